"""How many bots of an account may be at work, held whatever process asks."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.errors import LimitReached
from sederunt.model.status import AT_WORK


async def refuse_full(connection: AsyncConnection, account_id: UUID, most: int) -> None:
    """Raise LimitReached where the account has so many bots at work; until the end of this transaction nobody else
    gives it another.

    SQLite has one writer at a time; PostgreSQL locks the account's row, which waits for nothing but this.
    """
    await connection.execute(
        select(t.accounts.c.id).where(t.accounts.c.id == account_id).with_for_update(key_share=True)
    )
    seated = await connection.scalar(
        select(func.count())
        .select_from(t.bots)
        .where(t.bots.c.account_id == account_id, t.bots.c.status.in_(sorted(AT_WORK)))
    )
    if int(seated or 0) >= most:
        raise LimitReached(f"The limit of {most} bots at work at once is reached: stop one, or wait for one to end.")
