"""What holds for all bots of an account, whatever process asks: how many are at work or wait for their time, how many
are booked for one moment, and none twice in a meeting.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of
from sederunt.errors import Conflict, LimitReached
from sederunt.model.bot import Bot
from sederunt.model.status import AT_WORK, ENDINGS

# How long a booked seat counts as taken when others are booked: nobody knows how long a meeting will last.
BOOKED_STAY = timedelta(minutes=30)
# A scheduled bot that is due so soon has its seat, and no bot for now may take it.
DUE_SOON = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class BookingLimits:
    """How many seats may be booked for one moment."""

    per_account: int
    seats: int = 0  # of the installation, over all accounts; 0 where nobody knows
    refuses: bool = False  # what is too much; otherwise it is only told


class TwinBot(Conflict):
    """The same key has just sent another bot into the same meeting."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(
            f"This key has just sent bot {bot.id} into this meeting, at {bot.created_at:%H:%M:%S} UTC: a second one so "
            "soon is taken for a request sent twice. Wait some seconds where two are meant."
        )
        self.bot = bot


async def refuse_full(
    connection: AsyncConnection, account_id: UUID, most: int, now: datetime, *, but: UUID | None = None
) -> None:
    """Raise LimitReached where the account has so many bots at work, or due within a minute; until the end of this
    transaction nobody else gives it another.

    Args:
        but: a bot that does not count.
    """
    await lock_account(connection, account_id)
    at_work = t.bots.c.status.in_(sorted(AT_WORK))
    seated = int(await connection.scalar(_count(t.bots.c.account_id == account_id, at_work)) or 0)
    soon = t.bots.c.scheduled_for <= now + DUE_SOON
    booked = _count(t.bots.c.account_id == account_id, t.IS_SCHEDULED, soon, t.bots.c.id != (but or UUID(int=0)))
    due = int(await connection.scalar(booked) or 0)
    if seated + due >= most:
        those = f" ({seated} are, {due} are due within a minute)" if due else ""
        sentence = f"The limit of {most} bots at work at once is reached{those}: stop one, or wait for one to end."
        raise LimitReached(sentence, "bots_at_work")


async def overbooked(connection: AsyncConnection, bot: Bot, limits: BookingLimits) -> dict[str, Any] | None:
    """Return how many seats are booked beside that of a scheduled bot and how many there are, where it is one too many;
    None where its seat is promised.

    Raises LimitReached where the limits refuse it. Until the end of this transaction nobody else books for the account.
    """
    await lock_account(connection, bot.account_id)
    own = t.bots.c.account_id == bot.account_id
    found: dict[str, Any] | None = None
    for reason, most, whose in (("account_limit", limits.per_account, (own,)), ("no_seat", limits.seats, ())):
        if found is None and most and (booked := await _booked_beside(connection, bot, most, whose)) >= most:
            found = {"booked": booked, "limit": most, "reason": reason}
    if found is not None and limits.refuses:
        raise LimitReached(
            f"{found['booked']} bots are booked for that time already, and {found['limit']} may be at work at once: "
            "choose a time half an hour apart, or cancel one.",
            "bots_at_work" if found["reason"] == "account_limit" else "booked_seats",
        )
    return found


async def _booked_beside(connection: AsyncConnection, bot: Bot, most: int, whose: Sequence[ColumnElement[bool]]) -> int:
    """Return how many other seats are booked at the fullest moment of a bot's stay; fewer than `most` are not counted
    moment by moment.
    """
    at = bot.scheduled_for or bot.created_at
    near = (
        *whose,
        t.IS_SCHEDULED,
        t.bots.c.scheduled_for > at - BOOKED_STAY,
        t.bots.c.scheduled_for < at + BOOKED_STAY,
        t.bots.c.id != bot.id,
    )
    count = int(await connection.scalar(_count(*near)) or 0)
    if count < most:
        return count
    counted = select(t.bots.c.scheduled_for, func.count()).where(*near).group_by(t.bots.c.scheduled_for)
    return booked_at_once({row[0]: row[1] for row in await connection.execute(counted)}, at)


def booked_at_once(starts: Mapping[datetime, int], at: datetime) -> int:
    """Return how many of these bookings overlap at the fullest moment of a stay that begins at `at`.

    Args:
        starts: when they begin, and how many of them.
    """
    by_time = sorted(starts)
    begun = [0, *accumulate(starts[start] for start in by_time)]
    moments = [at, *(start for start in by_time if at < start < at + BOOKED_STAY)]
    return max(
        begun[bisect_right(by_time, moment)] - begun[bisect_right(by_time, moment - BOOKED_STAY)] for moment in moments
    )


async def refuse_booked_up(connection: AsyncConnection, account_id: UUID, most: int) -> None:
    """Raise LimitReached where the account has so many scheduled bots; until the end of this transaction nobody else
    gives it another.
    """
    await lock_account(connection, account_id)
    waiting = await connection.scalar(_count(t.bots.c.account_id == account_id, t.IS_SCHEDULED))
    if int(waiting or 0) >= most:
        sentence = f"The limit of {most} scheduled bots is reached: delete one, or wait until one is due."
        raise LimitReached(sentence, "scheduled_bots")


async def refuse_twin(connection: AsyncConnection, bot: Bot, within_s: float) -> None:
    """Raise TwinBot where the bot's key made one for the same meeting and time less than `within_s` seconds ago,
    which has not ended; until the end of this transaction nobody else makes one.
    """
    if bot.key_id is None:  # a person at the console
        return
    await lock_account(connection, bot.account_id)
    recent = select(t.bots).where(
        t.bots.c.account_id == bot.account_id,
        t.bots.c.created_at > bot.created_at - timedelta(seconds=within_s),
        t.bots.c.key_id == bot.key_id,
        t.bots.c.delete_requested.is_(False),
        t.bots.c.status.not_in(sorted(ENDINGS)),
    )
    for row in (await connection.execute(recent.order_by(t.bots.c.created_at))).mappings():
        other = bot_of(dict(row))
        if (other.config.meeting_url, other.scheduled_for) == (bot.config.meeting_url, bot.scheduled_for):
            raise TwinBot(other)


def _count(*conditions: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(t.bots).where(*conditions)


async def lock_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Keep others from making bots for the account. SQLite has one writer at a time; PostgreSQL locks the account's
    row, which waits for nothing but this.
    """
    await connection.execute(
        select(t.accounts.c.id).where(t.accounts.c.id == account_id).with_for_update(key_share=True)
    )
