"""How long media stays, and the receipts of what was deleted."""

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
TOLD_FOR = timedelta(days=1)  # so long after a deletion its receiver may still be told of the last changes of status
CUT_OFF_AFTER = timedelta(days=1)  # an upload whose row is not there by then never gets one

# What outlives a deletion until it is delivered: a status tells nothing that was said.
_UNTOLD = and_(t.IS_PENDING, t.deliveries.c.type == STATUS_UPDATE)
_ROWS: dict[Resource, Table] = {"bot": t.bots, "recording": t.recordings}


def kept_until(resource: Resource, *, for_1_year: bool, since: datetime) -> datetime:
    """Return when the media of a resource may go."""
    return since + KEPT[resource][for_1_year]


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """A receipt: this resource is to go, or is gone."""

    resource: Resource
    resource_id: UUID
    account_id: UUID
    requested_at: datetime
    finished_at: datetime | None = None


async def write_receipt(
    connection: AsyncConnection, resource: Resource, resource_id: UUID, account_id: UUID, now: datetime
) -> None:
    """Note inside the caller's transaction that a resource is to go."""
    await connection.execute(
        t.deletions.insert().values(resource=resource, resource_id=resource_id, account_id=account_id, requested_at=now)
    )


async def row_is_there(connection: AsyncConnection, resource_id: UUID) -> None:
    """Take `expect_row`'s receipt back, inside the transaction that makes the row."""
    await connection.execute(delete(t.deletions).where(t.deletions.c.resource_id == resource_id))


class RetentionTimes:
    """What all processes note of the time by which they judge media: see `jobs/retention_time`."""

    _ROW = 1

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted = database.query(select(t.retention_times.c.believed))

    async def noted(self) -> datetime | None:
        """Return what was noted last; None before the first time."""
        row = await self._noted.first()
        return row["believed"] if row else None

    async def clock(self) -> datetime:
        """Return this machine's time, or the database's where that one has a clock of its own and it is earlier."""
        here = self._database.clock.now()
        if self._database.is_sqlite:
            return here
        async with self._database.begin() as connection:
            there_s = await self._database.time_s(connection)
        ahead_s = SYSTEM_CLOCK.now().timestamp() - there_s if there_s is not None else 0.0
        return here - timedelta(seconds=ahead_s) if ahead_s > AGREED_S else here

    async def note(self, believed: datetime) -> None:
        """Note what is believed now."""
        insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        noting = insert(t.retention_times).values(id=self._ROW, believed=believed)
        async with self._database.begin() as connection:
            await connection.execute(noting.on_conflict_do_update(index_elements=["id"], set_={"believed": believed}))


class Deletions:
    """Deleting in steps that a crash cannot lose: as long as the receipt is open, all of them are done again."""

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
        waiting = t.deliveries.join(t.deletions, t.deletions.c.resource_id == t.deliveries.c.resource_id)
        self._untold_of = database.query(
            select(t.deliveries.c.id)
            .select_from(waiting)
            .where(t.deliveries.c.resource_id == id_parameter("id"), _UNTOLD)
            .where(t.deletions.c.requested_at > bindparam("since", type_=Moment()))
            .limit(1)
        )

    async def unfinished(self, *, behind: Deletion | None = None, limit: int = 100) -> list[Deletion]:
        """Return a page of what has still to be removed, the longest asked for first.

        Args:
            behind: the last one of the page before.
        """
        at, last = (behind.requested_at, behind.resource_id) if behind else BEGINNING
        rows = await self._unfinished.all(now=self._database.clock.now(), at=at, last=last, most=limit)
        return [Deletion(**row) for row in rows]

    async def expect_row(self, resource: Resource, resource_id: UUID, account_id: UUID) -> None:
        """Note that files are about to be stored under an id that has no row yet; if it never gets one, they go after a
        day."""
        at = self._database.clock.now() + CUT_OFF_AFTER
        async with self._database.begin() as connection:
            await write_receipt(connection, resource, resource_id, account_id, at)

    async def expect_none(self, resource_id: UUID) -> None:
        """Close the receipt of a row that will not come, whose files are gone already."""
        async with self._database.begin() as connection:
            await row_is_there(connection, resource_id)

    async def get(self, resource_id: UUID) -> Deletion | None:
        """Return the receipt of a resource."""
        row = await self._one.first(id=resource_id)
        return Deletion(**row) if row else None

    async def remove_rows(self, deletion: Deletion) -> None:
        """Remove every row of the resource, unsent messages included, but for the changes of status that its receiver
        has still to be told. Repeating it does no harm.
        """
        async with self._database.begin() as connection:
            await _remove_rows(connection, deletion.resource, deletion.resource_id)
            told = delete(t.deliveries).where(t.deliveries.c.resource_id == deletion.resource_id)
            await connection.execute(told.where(not_(_UNTOLD)))

    async def is_untold(self, resource_id: UUID) -> bool:
        """Return whether a receiver of a deleted resource has still to be told changes of status, for a day at most."""
        since = self._database.clock.now() - TOLD_FOR
        return await self._untold_of.first(id=resource_id, since=since) is not None

    async def all_untold(self) -> set[UUID]:
        """Return deleted resources of which a receiver has still to be told changes of status, for a day at most;
        forget those that were told or given up.
        """
        now = self._database.clock.now()
        going = select(t.deletions.c.resource_id).where(t.deletions.c.finished_at.is_(None))
        asked, rows = t.deletions.c.requested_at, t.deliveries.c
        async with self._database.begin() as connection:
            over = rows.resource_id.in_(going.where(asked <= now))
            await connection.execute(delete(t.deliveries).where(over, not_(_UNTOLD)))
            waiting = rows.resource_id.in_(going.where(asked <= now, asked > now - TOLD_FOR))
            return set(await connection.scalars(select(rows.resource_id).where(_UNTOLD, waiting).distinct()))

    async def finish(self, deletion: Deletion) -> None:
        """Note that nothing is left; call it when that is so. Removes the rows where that was not done yet, those of
        webhooks that nobody took included.
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
        """Overwrite what was deleted, so that it is not in the database's files any more either; False where readers
        were in the way.
        """
        await self._search.forget_deleted()
        return await self._database.empty_log()


async def _remove_rows(connection: AsyncConnection, resource: Resource, resource_id: UUID) -> None:
    rows = _ROWS[resource]
    await connection.execute(delete(t.transcripts).where(t.transcripts.c.resource_id == resource_id))
    await connection.execute(delete(t.corrections).where(t.corrections.c.resource_id == resource_id))
    await search.remove(connection, resource_id)
    await empty_first_answers(connection, resource_id)
    await connection.execute(delete(t.holdings).where(t.holdings.c.resource_id == resource_id))
    await connection.execute(delete(t.job_beginnings).where(t.job_beginnings.c.resource_id == resource_id))
    # Its messages end in the id, or carry it between two dashes.
    await connection.execute(delete(t.outbox).where(t.outbox.c.message_id.contains(str(resource_id), autoescape=True)))
    await connection.execute(delete(rows).where(rows.c.id == resource_id))  # children cascade
