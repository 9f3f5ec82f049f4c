"""Bots that wait for a host: the line, the taken seats, and the place that each bot was told."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import outbox
from sederunt.database import tables as t
from sederunt.database.columns import Moment
from sederunt.database.deliveries import enqueue_asked
from sederunt.database.engine import Database
from sederunt.database.event_rows import add_event
from sederunt.model.history import WAITING_FOR_CAPACITY
from sederunt.model.status import BotStatus

MOST = 2000  # bots looked at in one pass


@dataclass(frozen=True, kw_only=True, slots=True)
class LineEntry:
    """A bot that wants a seat."""

    id: UUID
    account_id: UUID
    wanted_at: datetime
    model: str  # of transcription


@dataclass(frozen=True, kw_only=True, slots=True)
class AtWork:
    """A bot that has a seat, or was sent to the hosts."""

    account_id: UUID
    status: str
    model: str
    unclaimed: bool  # no host ever had it
    entry: LineEntry


class WaitingBots:
    """The store's view of the line for seats."""

    def __init__(self, database: Database) -> None:
        self._database = database
        columns = [t.bots.c[name] for name in ("id", "account_id", "created_at", "scheduled_for", "config")]
        self._due = database.query(
            select(*columns)
            .where(t.IS_SCHEDULED, t.IS_VISIBLE, t.bots.c.scheduled_for <= bindparam("until", type_=Moment()))
            .order_by(t.bots.c.scheduled_for, t.bots.c.id)
            .limit(bindparam("most", type_=Integer()))
        )
        self._at_work = database.query(select(*columns, t.bots.c.epoch, t.bots.c.status).where(t.IS_AT_WORK))

    async def due(self, until: datetime) -> list[LineEntry]:
        """Return the scheduled bots whose time comes by `until`, earliest first."""
        return [_entry(row) for row in await self._due.all(until=until, most=MOST)]

    async def at_work(self) -> list[AtWork]:
        """Return every bot that is at a host or on its way there."""
        return [
            AtWork(
                account_id=row["account_id"],
                status=row["status"],
                model=row["config"]["transcription_model"],
                unclaimed=row["status"] == BotStatus.BOOTING.value and row["epoch"] == 0,
                entry=_entry(row),
            )
            for row in await self._at_work.all()
        ]

    async def tell(self, places: Mapping[UUID, Mapping[str, Any]]) -> int:
        """Write each bot's place in the line: at first, and then whenever it has halved.

        Returns how many were told. A bot that no longer waits is told nothing.
        """
        count, messages = 0, []
        async with self._database.begin() as connection:
            now = self._database.clock.now()
            statement = select(t.bots).where(t.bots.c.id.in_(list(places)), t.IS_VISIBLE).order_by(t.bots.c.id)
            locked_rows = (await connection.execute(statement.with_for_update())).mappings().all()
            # Read under the locks: another process may have told them meanwhile.
            told_last = await _told_last(connection, list(places))
            for row in locked_rows:
                data, last = places[row["id"]], told_last.get(row["id"])
                if row["status"] not in (BotStatus.SCHEDULED.value, BotStatus.BOOTING.value):
                    continue
                if last is not None and data["place"] * 2 > last["place"]:
                    continue
                event = await add_event(connection, row["id"], WAITING_FOR_CAPACITY, data, now)
                messages += await enqueue_asked(connection, dict(row), event)
                count += 1
            rows = await outbox.post(connection, messages, self._database)
        self._database.announce(rows)
        return count


def by_account(at_work: Iterable[AtWork]) -> Mapping[UUID, int]:
    """Return how many bots each account has at work."""
    return Counter(bot.account_id for bot in at_work)


def unclaimed(at_work: Sequence[AtWork]) -> list[LineEntry]:
    """Return the bots that no host ever had, the longest waiting first."""
    return sorted((bot.entry for bot in at_work if bot.unclaimed), key=lambda entry: (entry.wanted_at, entry.id))


async def _told_last(connection: AsyncConnection, bot_ids: Sequence[UUID]) -> dict[UUID, Mapping[str, Any]]:
    """Return the place that each bot was last told."""
    statement = (
        select(t.bot_events.c.bot_id, t.bot_events.c.data)
        .where(t.bot_events.c.bot_id.in_(bot_ids), t.bot_events.c.event == WAITING_FOR_CAPACITY)
        .order_by(t.bot_events.c.id)
    )
    return {row.bot_id: row.data for row in await connection.execute(statement)}


def _entry(row: Mapping[str, Any]) -> LineEntry:
    return LineEntry(
        id=row["id"],
        account_id=row["account_id"],
        wanted_at=row["scheduled_for"] or row["created_at"],
        model=row["config"]["transcription_model"],
    )
