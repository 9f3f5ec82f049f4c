"""The account that exists from the first start, so that a single user need not create one."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database.ids import new_id
from sederunt.database.tables import accounts

DEFAULT_ACCOUNT = "default"


async def ensure_default_account(connection: AsyncConnection, now: datetime) -> UUID:
    """Return the default account's id; creates the account if it is missing. Call it under the migrations' lock."""
    account_id = await connection.scalar(select(accounts.c.id).where(accounts.c.name == DEFAULT_ACCOUNT))
    if account_id is not None:
        return UUID(str(account_id))
    new_account_id = new_id(now)
    await connection.execute(insert(accounts).values(id=new_account_id, name=DEFAULT_ACCOUNT, created_at=now))
    return new_account_id
