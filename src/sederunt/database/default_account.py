"""The account that exists from the first start, so that a single user need not create one."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database.ids import new_id
from sederunt.database.tables import accounts

DEFAULT_ACCOUNT = "default"


async def ensure_default_account(connection: AsyncConnection, now: datetime) -> UUID:
    """Return its id, after making it where it is missing. Call it under the lock of the migrations."""
    found = await connection.scalar(select(accounts.c.id).where(accounts.c.name == DEFAULT_ACCOUNT))
    if found is not None:
        return UUID(str(found))
    made = new_id(now)
    await connection.execute(insert(accounts).values(id=made, name=DEFAULT_ACCOUNT, created_at=now))
    return made
