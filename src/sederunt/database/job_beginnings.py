"""How often the job of a resource began, in any process: a job that ends its workers begins and never ends."""

from uuid import UUID

from sqlalchemy import delete
from sqlalchemy.dialects import postgresql, sqlite

from sederunt.database import tables as t
from sederunt.database.engine import Database


class JobBeginnings:
    """Counts beginnings. The queue's own count includes deliveries in which the job only had to wait."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, kind: str, resource_id: UUID) -> int:
        """Count a beginning. Returns its number, from 1."""
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        statement = dialect_insert(t.job_beginnings).values(resource_id=resource_id, kind=kind, count=1)
        statement = statement.on_conflict_do_update(
            index_elements=["resource_id", "kind"], set_={"count": t.job_beginnings.c.count + 1}
        )
        async with self._database.begin() as connection:
            return int((await connection.execute(statement.returning(t.job_beginnings.c.count))).scalar_one())

    async def forget(self, resource_id: UUID) -> None:
        """Remove all counts of a deleted resource."""
        async with self._database.begin() as connection:
            await connection.execute(delete(t.job_beginnings).where(t.job_beginnings.c.resource_id == resource_id))
