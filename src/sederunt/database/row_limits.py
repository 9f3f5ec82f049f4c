"""How many rows of a kind an account may have."""

import math
from uuid import UUID

from sqlalchemy import ColumnElement, Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database.seats import lock_account
from sederunt.errors import LimitReached
from sederunt.model.budgets import BUDGETS


async def refuse_more_rows(
    connection: AsyncConnection, budget: str, most: float, account_id: UUID, *counted: tuple[Table, ColumnElement[bool]]
) -> None:
    """Raise LimitReached where an account has as many rows as its budget allows; until the end of this transaction
    nobody else gives it another.

    Args:
        counted: tables, and which of their rows.
    """
    if most == math.inf:
        return
    await lock_account(connection, account_id)
    found = 0
    for table, which in counted:
        counting = select(func.count()).select_from(table).where(table.c.account_id == account_id, which)
        found += int(await connection.scalar(counting) or 0)
    if found >= most:
        raise LimitReached(f"An account has {most:,.0f} {BUDGETS[budget].unit} at the most: remove one first.", budget)
