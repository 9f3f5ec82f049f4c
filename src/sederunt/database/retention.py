"""How long media is kept, and the receipts of deletions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Integer, Table, and_, bindparam, delete, not_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt import log
from sederunt.clock import SYSTEM_CLOCK
from sederunt.database import search
from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.engine import Database
from sederunt.database.first_answers import empty_first_answers
from sederunt.database.outbox import Resource
from sederunt.database.paging import BEGINNING, rows_behind
from sederunt.database.queries import id_parameter
from sederunt.model.history import STATUS_UPDATE

logger = log.get(component="database")

# resource → (by default, with store_recording_for_1_year)
KEPT: dict[Resource, tuple[timedelta, timedelta]] = {
    "bot": (timedelta(days=7), timedelta(days=365)),
    "recording": (timedelta(days=1), timedelta(days=365)),
}

AGREED_S = 5.0  # between this machine's clock and the database's
TOLD_FOR = timedelta(days=1)  # how long after a deletion its receiver is still told of the last changes of status
CUT_OFF_AFTER = timedelta(days=1)  # an upload that has no row by then never gets one

# These outlive a deletion until they are delivered: a status contains nothing that was said.
_UNTOLD = and_(t.IS_PENDING, t.deliveries.c.type == STATUS_UPDATE)
_ROWS: dict[Resource, Table] = {"bot": t.bots, "recording": t.recordings}


def kept_until(resource: Resource, *, for_1_year: bool, since: datetime) -> datetime:
    """Return when the media of a resource may be deleted."""
    return since + KEPT[resource][for_1_year]


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """A receipt: this resource is to be deleted, or is deleted."""

    resource: Resource
    resource_id: UUID
    account_id: UUID
    requested_at: datetime
    finished_at: datetime | None = None


async def write_receipt(
    connection: AsyncConnection, resource: Resource, resource_id: UUID, account_id: UUID, now: datetime
) -> None:
    """Note inside the caller's transaction that a resource is to be deleted."""
    await connection.execute(
        t.deletions.insert().values(resource=resource, resource_id=resource_id, account_id=account_id, requested_at=now)
    )


async def row_is_there(connection: AsyncConnection, resource_id: UUID) -> None:
    """Take `expect_row`'s receipt back, inside the transaction that creates the row."""
    await connection.execute(delete(t.deletions).where(t.deletions.c.resource_id == resource_id))


class RetentionTimes:
    """The time by which all processes judge the age of media: see `jobs/retention_time`."""

    _ROW = 1

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted = database.query(select(t.retention_times.c.believed))

    async def noted(self) -> datetime | None:
        """Return the last noted time; None before the first."""
        row = await self._noted.first()
        return row["believed"] if row else None

    async def clock(self) -> datetime:
        """Return this machine's time, or the database's if it has a clock of its own that is behind."""
        own_time = self._database.clock.now()
        if self._database.is_sqlite:
            return own_time
        async with self._database.begin() as connection:
            database_time_s = await self._database.time_s(connection)
        ahead_s = SYSTEM_CLOCK.now().timestamp() - database_time_s if database_time_s is not None else 0.0
        return own_time - timedelta(seconds=ahead_s) if ahead_s > AGREED_S else own_time

    async def note(self, moment: datetime) -> None:
        """Note the time that is believed now."""
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        statement = dialect_insert(t.retention_times).values(id=self._ROW, believed=moment)
        async with self._database.begin() as connection:
            await connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_={"believed": moment}))


class Deletions:
    """Deletes in steps that a crash cannot lose: while the receipt is open, all steps are repeated."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._search = search.Search(database)
        self._unfinished = database.query(
            select(t.deletions)
            .where(t.deletions.c.finished_at.is_(None), t.deletions.c.requested_at <= bindparam("now", type_=Moment()))
            .where(rows_behind(t.deletions.c.requested_at, t.deletions.c.resource_id))
            .order_by(t.deletions.c.requested_at, t.deletions.c.resource_id)
            .limit(bindparam("most", type_=Integer()))
        )
        self._one = database.query(select(t.deletions).where(t.deletions.c.resource_id == bindparam("id")))
        deleted_deliveries = t.deliveries.join(t.deletions, t.deletions.c.resource_id == t.deliveries.c.resource_id)
        self._untold_of = database.query(
            select(t.deliveries.c.id)
            .select_from(deleted_deliveries)
            .where(t.deliveries.c.resource_id == id_parameter("id"), _UNTOLD)
            .where(t.deletions.c.requested_at > bindparam("since", type_=Moment()))
            .limit(1)
        )

    async def unfinished(self, *, behind: Deletion | None = None, limit: int = 100) -> list[Deletion]:
        """Return a page of unfinished deletions, the longest requested first.

        Args:
            behind: the last one of the previous page.
        """
        at, last = (behind.requested_at, behind.resource_id) if behind else BEGINNING
        rows = await self._unfinished.all(now=self._database.clock.now(), at=at, last=last, most=limit)
        return [Deletion(**row) for row in rows]

    async def expect_row(self, resource: Resource, resource_id: UUID, account_id: UUID) -> None:
        """Note that files are about to be stored under an id that has no row yet. If it never gets one, the files are
        deleted after a day.
        """
        at = self._database.clock.now() + CUT_OFF_AFTER
        async with self._database.begin() as connection:
            await write_receipt(connection, resource, resource_id, account_id, at)

    async def expect_none(self, resource_id: UUID) -> None:
        """Close the receipt of a row that will not come and whose files are deleted already."""
        async with self._database.begin() as connection:
            await row_is_there(connection, resource_id)

    async def get(self, resource_id: UUID) -> Deletion | None:
        """Return the receipt of a resource."""
        row = await self._one.first(id=resource_id)
        return Deletion(**row) if row else None

    async def remove_rows(self, deletion: Deletion) -> None:
        """Remove every row of the resource, including unsent messages, except changes of status that its receiver has
        still to be told. Repeating it does no harm.
        """
        async with self._database.begin() as connection:
            await _remove_rows(connection, deletion.resource, deletion.resource_id)
            statement = delete(t.deliveries).where(t.deliveries.c.resource_id == deletion.resource_id)
            await connection.execute(statement.where(not_(_UNTOLD)))

    async def is_untold(self, resource_id: UUID) -> bool:
        """Return whether a receiver of a deleted resource has still to be told changes of status, for a day at most."""
        since = self._database.clock.now() - TOLD_FOR
        return await self._untold_of.first(id=resource_id, since=since) is not None

    async def all_untold(self) -> set[UUID]:
        """Return deleted resources whose receivers have still to be told changes of status, for a day at most. Deletes
        the other webhooks of deleted resources, delivered or given up.
        """
        now = self._database.clock.now()
        open_ids = select(t.deletions.c.resource_id).where(t.deletions.c.finished_at.is_(None))
        requested_at, columns = t.deletions.c.requested_at, t.deliveries.c
        async with self._database.begin() as connection:
            is_due = columns.resource_id.in_(open_ids.where(requested_at <= now))
            await connection.execute(delete(t.deliveries).where(is_due, not_(_UNTOLD)))
            is_recent = columns.resource_id.in_(open_ids.where(requested_at <= now, requested_at > now - TOLD_FOR))
            return set(await connection.scalars(select(columns.resource_id).where(_UNTOLD, is_recent).distinct()))

    async def finish(self, deletion: Deletion) -> None:
        """Note that nothing of a resource is left; call it once that is true. Removes rows that are still there,
        including webhooks that no receiver took.
        """
        async with self._database.begin() as connection:
            await _remove_rows(connection, deletion.resource, deletion.resource_id)
            await connection.execute(delete(t.deliveries).where(t.deliveries.c.resource_id == deletion.resource_id))
            await connection.execute(
                update(t.deletions)
                .where(t.deletions.c.resource_id == deletion.resource_id, t.deletions.c.finished_at.is_(None))
                .values(finished_at=self._database.clock.now())
            )
        logger.info(
            f"A {deletion.resource} was deleted with everything that belonged to it.",
            action="deleted",
            resource_id=str(deletion.resource_id),
            account_id=str(deletion.account_id),
        )

    async def overwrite(self) -> bool:
        """Overwrite deleted data, so that no database file holds it any more; False if readers were in the way."""
        await self._search.forget_deleted()
        return await self._database.empty_log()


async def _remove_rows(connection: AsyncConnection, resource: Resource, resource_id: UUID) -> None:
    table = _ROWS[resource]
    await connection.execute(delete(t.transcripts).where(t.transcripts.c.resource_id == resource_id))
    await connection.execute(delete(t.corrections).where(t.corrections.c.resource_id == resource_id))
    await search.remove(connection, resource_id)
    await empty_first_answers(connection, resource_id)
    await connection.execute(delete(t.holdings).where(t.holdings.c.resource_id == resource_id))
    await connection.execute(delete(t.job_beginnings).where(t.job_beginnings.c.resource_id == resource_id))
    # Message ids end in the id, or contain it between two dashes.
    await connection.execute(delete(t.outbox).where(t.outbox.c.message_id.contains(str(resource_id), autoescape=True)))
    await connection.execute(delete(table).where(table.c.id == resource_id))  # children cascade
