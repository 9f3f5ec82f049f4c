"""Limits on all bots of an account, for every process: how many are at work or scheduled, how many are booked for one
moment, and no two in one meeting.
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

# How long a booked seat counts as taken: nobody knows how long a meeting will last.
BOOKED_STAY = timedelta(minutes=30)
# A scheduled bot that is due this soon has its seat, and no immediate bot may take it.
DUE_SOON = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class BookingLimits:
    """How many seats may be booked for one moment."""

    per_account: int
    seats: int = 0  # of the installation, over all accounts; 0 if unknown
    refuses: bool = False  # bookings beyond the limit; otherwise they are only reported


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
    """Raise LimitReached if the account has `most` bots at work or due within a minute. Until the transaction ends
    nobody else gives the account another.

    Args:
        but: a bot that does not count.
    """
    await lock_account(connection, account_id)
    is_at_work = t.bots.c.status.in_(sorted(AT_WORK))
    at_work_count = int(await connection.scalar(_count(t.bots.c.account_id == account_id, is_at_work)) or 0)
    is_soon = t.bots.c.scheduled_for <= now + DUE_SOON
    statement = _count(t.bots.c.account_id == account_id, t.IS_SCHEDULED, is_soon, t.bots.c.id != (but or UUID(int=0)))
    due_count = int(await connection.scalar(statement) or 0)
    if at_work_count + due_count >= most:
        detail = f" ({at_work_count} are, {due_count} are due within a minute)" if due_count else ""
        sentence = f"The limit of {most} bots at work at once is reached{detail}: stop one, or wait for one to end."
        raise LimitReached(sentence, "bots_at_work")


async def overbooked(connection: AsyncConnection, bot: Bot, limits: BookingLimits) -> dict[str, Any] | None:
    """Return how many other seats are booked at the time of a scheduled bot and how many there are, if the bot is one
    too many; None if its seat is certain.

    Raises LimitReached if the limits refuse the bot. Until the transaction ends nobody else books for the account.
    """
    await lock_account(connection, bot.account_id)
    is_own = t.bots.c.account_id == bot.account_id
    excess: dict[str, Any] | None = None
    for reason, most, owner_conditions in (
        ("account_limit", limits.per_account, (is_own,)),
        ("no_seat", limits.seats, ()),
    ):
        if excess is None and most and (count := await _booked_beside(connection, bot, most, owner_conditions)) >= most:
            excess = {"booked": count, "limit": most, "reason": reason}
    if excess is not None and limits.refuses:
        raise LimitReached(
            f"{excess['booked']} bots are booked for that time already, and {excess['limit']} may be at work at once: "
            "choose a time half an hour apart, or cancel one.",
            "bots_at_work" if excess["reason"] == "account_limit" else "booked_seats",
        )
    return excess


async def _booked_beside(
    connection: AsyncConnection, bot: Bot, most: int, conditions: Sequence[ColumnElement[bool]]
) -> int:
    """Return how many other seats are booked at the fullest moment of a bot's stay. If fewer than `most` overlap at
    all, returns that number without looking at single moments.
    """
    at = bot.scheduled_for or bot.created_at
    nearby = (
        *conditions,
        t.IS_SCHEDULED,
        t.bots.c.scheduled_for > at - BOOKED_STAY,
        t.bots.c.scheduled_for < at + BOOKED_STAY,
        t.bots.c.id != bot.id,
    )
    count = int(await connection.scalar(_count(*nearby)) or 0)
    if count < most:
        return count
    statement = select(t.bots.c.scheduled_for, func.count()).where(*nearby).group_by(t.bots.c.scheduled_for)
    return booked_at_once({row[0]: row[1] for row in await connection.execute(statement)}, at)


def booked_at_once(starts: Mapping[datetime, int], at: datetime) -> int:
    """Return how many of these bookings overlap at the fullest moment of a stay that begins at `at`.

    Args:
        starts: start of bookings → their number.
    """
    times = sorted(starts)
    totals = [0, *accumulate(starts[start] for start in times)]
    moments = [at, *(start for start in times if at < start < at + BOOKED_STAY)]
    return max(
        totals[bisect_right(times, moment)] - totals[bisect_right(times, moment - BOOKED_STAY)] for moment in moments
    )


async def refuse_booked_up(connection: AsyncConnection, account_id: UUID, most: int) -> None:
    """Raise LimitReached if the account has `most` scheduled bots. Until the transaction ends nobody else gives the
    account another.
    """
    await lock_account(connection, account_id)
    count = await connection.scalar(_count(t.bots.c.account_id == account_id, t.IS_SCHEDULED))
    if int(count or 0) >= most:
        sentence = f"The limit of {most} scheduled bots is reached: delete one, or wait until one is due."
        raise LimitReached(sentence, "scheduled_bots")


async def refuse_twin(connection: AsyncConnection, bot: Bot, within_s: float) -> None:
    """Raise TwinBot if the bot's key made one for the same meeting and time less than `within_s` seconds ago that has
    not ended. Until the transaction ends nobody else makes one.
    """
    if bot.key_id is None:  # a person at the console
        return
    await lock_account(connection, bot.account_id)
    statement = select(t.bots).where(
        t.bots.c.account_id == bot.account_id,
        t.bots.c.created_at > bot.created_at - timedelta(seconds=within_s),
        t.bots.c.key_id == bot.key_id,
        t.bots.c.delete_requested.is_(False),
        t.bots.c.status.not_in(sorted(ENDINGS)),
    )
    for row in (await connection.execute(statement.order_by(t.bots.c.created_at))).mappings():
        other = bot_of(dict(row))
        if (other.config.meeting_url, other.scheduled_for) == (bot.config.meeting_url, bot.scheduled_for):
            raise TwinBot(other)


def _count(*conditions: ColumnElement[bool]) -> Select[int]:
    return select(func.count()).select_from(t.bots).where(*conditions)


async def lock_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Keep others from making bots for the account. SQLite has one writer at a time; PostgreSQL locks the account's
    row, which blocks nothing else.
    """
    await connection.execute(
        select(t.accounts.c.id).where(t.accounts.c.id == account_id).with_for_update(key_share=True)
    )
