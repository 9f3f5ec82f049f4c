"""Which scheduled bots go to their hosts now, which wait, and which have waited too long. Pure.

Meetings begin on the hour, so bots come in storms. A host can start so many pages a second; the first of a storm
therefore begin before their time, load their pages, and knock when it has come. A bot for which there is no seat stays
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
# Every bot begins so long before its time, or the time passes while its page loads; it knocks when the time has come.
PAGE_S = 4.0
NOTICE_S = 2.0  # so long before its time a bot for which there is no seat is told: after it, it would be late
# Share of the hosts' cores that pages which start may fill, a little less than hosts allow themselves.
STARTING_SHARE = 0.75


class Lack(StrEnum):
    """Why a bot waits for capacity."""

    NO_SEAT = "no_seat"  # the hosts have no room for it
    NO_HOST = "no_host"  # no host is there
    ACCOUNT_LIMIT = "account_limit"  # its account has as many bots at work as it may
    LIVE_LIMIT = "live_limit"  # as many bots are transcribed live here as this installation can follow


@dataclass(frozen=True, kw_only=True, slots=True)
class DueBot:
    """A scheduled bot whose time has come, or comes soon."""

    id: UUID
    account_id: UUID
    at: datetime
    live: bool  # Whisper would transcribe it live


@dataclass(frozen=True, kw_only=True, slots=True)
class InUse:
    """What is taken already."""

    by_account: Mapping[UUID, int] = field(default_factory=dict)  # bots at work
    live: int = 0  # bots that Whisper transcribes live
    unclaimed: int = 0  # sent off, and at no host yet


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatLimits:
    """What may be taken at most."""

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
    """What is to be done now."""

    send: Sequence[UUID] = ()
    wait: Sequence[Waiting] = ()


def plan(due: Iterable[DueBot], now: datetime, seats: Seats | None, used: InUse, limits: SeatLimits) -> SeatingPlan:
    """Decide on bots that are due now or within LEAD_S.

    Args:
        seats: of the living hosts; None where nothing is known of any: then every bot whose time has come is sent off.
    """
    free = max(seats.free - used.unclaimed, 0) if seats is not None else None
    taken, live = Counter(used.by_account), used.live
    accepted: list[DueBot] = []
    refused: list[tuple[DueBot, Lack]] = []
    for bot in in_turn(due, now, used.by_account):
        lack = _lack(bot, taken, live, limits, free, seats)
        if lack is not None:
            refused.append((bot, lack))
            continue
        accepted.append(bot)
        taken[bot.account_id] += 1
        live += bot.live
        free = free - 1 if free is not None else None
    late = [(bot, lack) for bot, lack in refused if (bot.at - now).total_seconds() <= NOTICE_S]
    return SeatingPlan(
        send=_to_begin(accepted, now, seats),
        wait=[
            Waiting(id=bot.id, place=place, of=len(late), lack=lack, since=bot.at)
            for place, (bot, lack) in enumerate(late, start=1)
        ],
    )


def in_turn(due: Iterable[DueBot], now: datetime, at_work: Mapping[UUID, int]) -> list[DueBot]:
    """Return bots in the order in which seats are given: by time, those of one moment and all that are late by turns
    between accounts; one that has fewer bots at work comes first.
    """
    by_time = sorted(due, key=lambda bot: (bot.at, bot.id))
    turns = Counter(at_work)
    keys: dict[UUID, tuple[datetime, int]] = {}
    for bot in by_time:
        keys[bot.id] = (max(bot.at, now), turns[bot.account_id])
        turns[bot.account_id] += 1
    return sorted(by_time, key=lambda bot: keys[bot.id])


def _lack(
    bot: DueBot, taken: Mapping[UUID, int], live: int, limits: SeatLimits, free: int | None, seats: Seats | None
) -> Lack | None:
    if taken.get(bot.account_id, 0) >= limits.per_account:
        return Lack.ACCOUNT_LIMIT
    if bot.live and live >= limits.live:
        return Lack.LIVE_LIMIT
    if free is not None and free <= 0:
        return Lack.NO_SEAT if seats is not None and seats.total else Lack.NO_HOST
    return None


def _to_begin(accepted: Sequence[DueBot], now: datetime, seats: Seats | None) -> list[UUID]:
    """Return those that have to begin now so that all are at their meetings in time: of a storm the first ones early,
    one after another as the hosts can start pages, and the last one as early as one that is alone.
    """
    pace_s = START_S * START_CORES / (STARTING_SHARE * seats.cores) if seats is not None and seats.cores else 0.0
    in_time = sorted(accepted, key=lambda bot: bot.at)
    behind = {bot.id: 0 for bot in accepted}
    for place, bot in enumerate(in_time):
        # All that are due by then and have not begun yet come after it.
        behind[bot.id] = sum(other.at <= bot.at for other in in_time[place + 1 :])
    page_s = PAGE_S if seats is not None else 0.0
    leads = {id_: min(page_s + others * pace_s, LEAD_S) for id_, others in behind.items()}
    return [bot.id for bot in accepted if (bot.at - now).total_seconds() <= leads[bot.id]]
