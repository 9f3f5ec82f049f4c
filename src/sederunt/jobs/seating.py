"""Decides which scheduled bots go to their hosts now, which wait, and which have waited too long. Pure.

Meetings begin on the hour, so bots come in storms. Hosts can start only so many pages a second; the first bots of a
storm therefore begin before their time, load their pages, and knock at their time. A bot without a seat stays
`scheduled`: its row is its place in a line that is fair between accounts, and no queue holds what nobody can take.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sederunt.jobs.capacity import START_CORES, START_S
from sederunt.jobs.installation import Seats

LEAD_S = 60.0  # the most by which a bot begins before its time
# Every bot begins this long before its time, because its page has to load; it knocks at its time.
PAGE_S = 4.0
NOTICE_S = 2.0  # how long before its time a bot without a seat is told; later, it would be late
# Share of the hosts' cores that starting pages may fill, a little less than hosts allow themselves.
STARTING_SHARE = 0.75


class Lack(StrEnum):
    """Why a bot waits for capacity."""

    NO_SEAT = "no_seat"  # the hosts have no room for it
    NO_HOST = "no_host"  # no host is there
    ACCOUNT_LIMIT = "account_limit"  # its account has as many bots at work as it may
    LIVE_LIMIT = "live_limit"  # as many bots are transcribed live here as this installation can follow


@dataclass(frozen=True, kw_only=True, slots=True)
class DueBot:
    """A scheduled bot that is due, or soon will be."""

    id: UUID
    account_id: UUID
    at: datetime
    live: bool  # whether Whisper would transcribe it live


@dataclass(frozen=True, kw_only=True, slots=True)
class InUse:
    """The seats that are taken already."""

    by_account: Mapping[UUID, int] = field(default_factory=dict)  # bots at work
    live: int = 0  # bots that Whisper transcribes live
    unclaimed: int = 0  # sent off, and at no host yet


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatLimits:
    """The limits on seats."""

    per_account: int
    live: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A bot that has to wait, and its place in the line, from 1."""

    id: UUID
    place: int
    of: int
    lack: Lack
    since: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatingPlan:
    """What to do now."""

    send: Sequence[UUID] = ()
    wait: Sequence[Waiting] = ()


def plan(due: Iterable[DueBot], now: datetime, seats: Seats | None, used: InUse, limits: SeatLimits) -> SeatingPlan:
    """Decide on bots that are due now or within LEAD_S.

    Args:
        seats: of the living hosts; None if no host is known: then every due bot is sent off.
    """
    free_seats = max(seats.free - used.unclaimed, 0) if seats is not None else None
    bots_by_account, live_count = Counter(used.by_account), used.live
    accepted_bots: list[DueBot] = []
    refused_bots: list[tuple[DueBot, Lack]] = []
    for bot in in_turn(due, now, used.by_account):
        lack = _lack(bot, bots_by_account, live_count, limits, free_seats, seats)
        if lack is not None:
            refused_bots.append((bot, lack))
            continue
        accepted_bots.append(bot)
        bots_by_account[bot.account_id] += 1
        live_count += bot.live
        free_seats = free_seats - 1 if free_seats is not None else None
    late_bots = [(bot, lack) for bot, lack in refused_bots if (bot.at - now).total_seconds() <= NOTICE_S]
    return SeatingPlan(
        send=_to_begin(accepted_bots, now, seats),
        wait=[
            Waiting(id=bot.id, place=place, of=len(late_bots), lack=lack, since=bot.at)
            for place, (bot, lack) in enumerate(late_bots, start=1)
        ],
    )


def in_turn(due: Iterable[DueBot], now: datetime, at_work: Mapping[UUID, int]) -> list[DueBot]:
    """Return bots in the order in which they get seats: by time; those of one moment and all late ones by turns between
    accounts, beginning with the account that has fewer bots at work.
    """
    by_time = sorted(due, key=lambda bot: (bot.at, bot.id))
    turns = Counter(at_work)
    keys: dict[UUID, tuple[datetime, int]] = {}
    for bot in by_time:
        keys[bot.id] = (max(bot.at, now), turns[bot.account_id])
        turns[bot.account_id] += 1
    return sorted(by_time, key=lambda bot: keys[bot.id])


def _lack(
    bot: DueBot,
    bots_by_account: Mapping[UUID, int],
    live_count: int,
    limits: SeatLimits,
    free_seats: int | None,
    seats: Seats | None,
) -> Lack | None:
    if bots_by_account.get(bot.account_id, 0) >= limits.per_account:
        return Lack.ACCOUNT_LIMIT
    if bot.live and live_count >= limits.live:
        return Lack.LIVE_LIMIT
    if free_seats is not None and free_seats <= 0:
        return Lack.NO_SEAT if seats is not None and seats.total else Lack.NO_HOST
    return None


def _to_begin(accepted_bots: Sequence[DueBot], now: datetime, seats: Seats | None) -> list[UUID]:
    """Return the bots that have to begin now so that all are at their meetings in time: the first of a storm early, one
    after another as hosts can start pages, and the last one as early as a single bot.
    """
    pace_s = START_S * START_CORES / (STARTING_SHARE * seats.cores) if seats is not None and seats.cores else 0.0
    by_time = sorted(accepted_bots, key=lambda bot: bot.at)
    later_counts = {bot.id: 0 for bot in accepted_bots}
    for place, bot in enumerate(by_time):
        # Counts the bots after it that are due by then and have not begun yet.
        later_counts[bot.id] = sum(other.at <= bot.at for other in by_time[place + 1 :])
    page_s = PAGE_S if seats is not None else 0.0
    leads_s = {id_: min(page_s + later_count * pace_s, LEAD_S) for id_, later_count in later_counts.items()}
    return [bot.id for bot in accepted_bots if (bot.at - now).total_seconds() <= leads_s[bot.id]]
