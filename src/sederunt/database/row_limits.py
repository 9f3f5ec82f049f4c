"""How many rows of a kind an account may have."""

import math
from uuid import UUID

from sqlalchemy import ColumnElement, Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database.seats import lock_account
from sederunt.errors import LimitReached
from sederunt.model.budgets import BUDGETS


async def refuse_more_rows(
    connection: AsyncConnection, budget: str, most: float, account_id: UUID, *kinds: tuple[Table, ColumnElement[bool]]
) -> None:
    """Raise LimitReached if an account has as many rows as its budget allows. Until the transaction ends nobody else
    adds one to the account.

    Args:
        kinds: tables, and which of their rows count.
    """
    if most == math.inf:
        return
    await lock_account(connection, account_id)
    count = 0
    for table, condition in kinds:
        statement = select(func.count()).select_from(table).where(table.c.account_id == account_id, condition)
        count += int(await connection.scalar(statement) or 0)
    if count >= most:
        raise LimitReached(f"An account has {most:,.0f} {BUDGETS[budget].unit} at the most: remove one first.", budget)
