"""What holds for all bots of an account, whatever process asks: how many are at work or wait for their time, and none
twice in a meeting.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of
from sederunt.errors import Conflict, LimitReached
from sederunt.model.bot import Bot
from sederunt.model.status import AT_WORK, ENDINGS, BotStatus


class TwinBot(Conflict):
    """The same key has just sent another bot into the same meeting."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(
            f"This key has just sent bot {bot.id} into this meeting, at {bot.created_at:%H:%M:%S} UTC: a second one so "
            "soon is taken for a request sent twice. Wait some seconds where two are meant."
        )
        self.bot = bot


async def refuse_full(connection: AsyncConnection, account_id: UUID, most: int) -> None:
    """Raise LimitReached where the account has so many bots at work; until the end of this transaction nobody else
    gives it another.
    """
    await _lock_account(connection, account_id)
    seated = await connection.scalar(
        select(func.count())
        .select_from(t.bots)
        .where(t.bots.c.account_id == account_id, t.bots.c.status.in_(sorted(AT_WORK)))
    )
    if int(seated or 0) >= most:
        raise LimitReached(f"The limit of {most} bots at work at once is reached: stop one, or wait for one to end.")


async def refuse_booked_up(connection: AsyncConnection, account_id: UUID, most: int) -> None:
    """Raise LimitReached where the account has so many scheduled bots; until the end of this transaction nobody else
    gives it another.
    """
    await _lock_account(connection, account_id)
    waiting = await connection.scalar(
        select(func.count())
        .select_from(t.bots)
        .where(t.bots.c.account_id == account_id, t.bots.c.status == BotStatus.SCHEDULED.value)
    )
    if int(waiting or 0) >= most:
        raise LimitReached(f"The limit of {most} scheduled bots is reached: delete one, or wait until one is due.")


async def refuse_twin(connection: AsyncConnection, bot: Bot, within_s: float) -> None:
    """Raise TwinBot where the bot's key made one for the same meeting and time less than `within_s` seconds ago,
    which has not ended; until the end of this transaction nobody else makes one.
    """
    if bot.key_id is None:  # a person at the console
        return
    await _lock_account(connection, bot.account_id)
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


async def _lock_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Keep others from making bots for the account. SQLite has one writer at a time; PostgreSQL locks the account's
    row, which waits for nothing but this.
    """
    await connection.execute(
        select(t.accounts.c.id).where(t.accounts.c.id == account_id).with_for_update(key_share=True)
    )
