"""Who sat in a meeting and when they spoke: participants, speaking events, and whose voice each source carries."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.bot_rows import unknown_bot
from sederunt.database.columns import storable
from sederunt.database.engine import Database
from sederunt.database.queries import id_parameter
from sederunt.errors import Superseded
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind

_ID = id_parameter("id")
_BATCH = 500  # rows of one statement, so that an hour of talk does not block for long


class Rosters:
    """The rosters of all bots."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._participants = database.query(
            select(t.participants).where(t.participants.c.bot_id == _ID).order_by(t.participants.c.position)
        )
        self._speaking = database.query(
            select(t.speaking_events)
            .where(t.speaking_events.c.bot_id == _ID)
            .order_by(t.speaking_events.c.at_ms, t.speaking_events.c.type.desc())  # a stop before a start
        )
        self._sources = database.query(select(t.sources).where(t.sources.c.bot_id == _ID))

    async def save(
        self,
        bot_id: UUID,
        participants: Sequence[Participant],
        sources: Mapping[str, str] | None = None,
        *,
        withdrawn: Mapping[str, int] | None = None,
        epoch: int | None = None,
    ) -> None:
        """Write the current roster. Earlier entries stay; names and avatars take the new value.

        Of each participant's events only those not older than the last one written are added, so each call may pass the
        whole list. `sources`: audio source → participant key. `withdrawn`: participant → Unix milliseconds; their
        events from then on were wrong and are written anew; from 0 on, so was the participant's entry itself.

        Raises Superseded, NotFound.
        """
        async with self._database.begin() as connection:
            await check_holder(connection, bot_id, epoch)
            await self._withdraw(connection, bot_id, withdrawn or {})
            await self._save_participants(connection, bot_id, participants)
            await self._save_speaking(connection, bot_id, participants)
            rows = [
                {"bot_id": bot_id, "source": source, "participant": storable(key)}
                for source, key in (sources or {}).items()
            ]
            await self._write(connection, t.sources, rows, renewed_columns=("participant",))

    async def participants(self, bot_id: UUID, *, with_events: bool = False) -> list[Participant]:
        """Return the participants in order of appearance; speaking events only on request."""
        speaking_events: dict[str, list[SpeakingEvent]] = {}
        for row in await self._speaking.all(id=bot_id) if with_events else ():
            event = SpeakingEvent(type=SpeakingKind(row["type"]), timestamp=row["at_ms"])
            speaking_events.setdefault(row["participant"], []).append(event)
        return [
            Participant(
                key=row["key"],
                name=row["name"],
                avatar=row["avatar"],
                first_seen_at=row["first_seen_at"],
                events=tuple(speaking_events.get(row["key"], ())),
            )
            for row in await self._participants.all(id=bot_id)
        ]

    async def sources(self, bot_id: UUID) -> dict[str, str]:
        """Return audio source → participant key."""
        return {row["source"]: row["participant"] for row in await self._sources.all(id=bot_id)}

    async def _save_participants(
        self, connection: AsyncConnection, bot_id: UUID, participants: Sequence[Participant]
    ) -> None:
        last_position = func.coalesce(func.max(t.participants.c.position), -1)
        first = int(await connection.scalar(select(last_position).where(t.participants.c.bot_id == bot_id)) or 0) + 1
        rows = [
            {
                "bot_id": bot_id,
                "key": storable(participant.key),
                "position": first + place,
                "name": storable(participant.name),
                "avatar": participant.avatar and storable(participant.avatar),
                "first_seen_at": participant.first_seen_at,
            }
            for place, participant in enumerate(participants)
        ]
        await self._write(connection, t.participants, rows, renewed_columns=("name", "avatar"))

    async def _withdraw(self, connection: AsyncConnection, bot_id: UUID, withdrawn: Mapping[str, int]) -> None:
        events = t.speaking_events.c
        for key, since_ms in withdrawn.items():
            condition = and_(events.bot_id == bot_id, events.participant == storable(key), events.at_ms >= since_ms)
            await connection.execute(delete(t.speaking_events).where(condition))
            if since_ms == 0:
                people = t.participants.c
                entry = and_(people.bot_id == bot_id, people.key == storable(key))
                await connection.execute(delete(t.participants).where(entry))

    async def _save_speaking(
        self, connection: AsyncConnection, bot_id: UUID, participants: Sequence[Participant]
    ) -> None:
        events = t.speaking_events.c
        statement = select(events.participant, func.max(events.at_ms)).where(events.bot_id == bot_id)
        result = await connection.execute(statement.group_by(events.participant))
        last = {str(row[0]): int(row[1]) for row in result}
        rows = [
            {"bot_id": bot_id, "participant": key, "at_ms": event.timestamp, "type": event.type.value}
            for participant in participants
            for key in (storable(participant.key),)
            for event in participant.events
            if event.timestamp >= last.get(key, 0)
        ]
        await self._write(connection, t.speaking_events, rows, renewed_columns=())

    async def _write(
        self,
        connection: AsyncConnection,
        table: Any,
        rows: Sequence[Mapping[str, Any]],
        *,
        renewed_columns: Sequence[str],
    ) -> None:
        """Insert new rows; update these columns of existing ones."""
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        statement = dialect_insert(table)
        if renewed_columns:
            values = {name: statement.excluded[name] for name in renewed_columns}
            statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)
        else:
            statement = statement.on_conflict_do_nothing()
        for start in range(0, len(rows), _BATCH):
            await connection.execute(statement, rows[start : start + _BATCH])


async def check_holder(connection: AsyncConnection, bot_id: UUID, epoch: int | None) -> None:
    """Check who holds a bot. Raises NotFound if there is no such bot, Superseded if it has another holder."""
    statement = select(t.bots.c.epoch).where(t.bots.c.id == bot_id)
    # Locked, so that nobody becomes the holder before the following writes are committed.
    current_epoch = await connection.scalar(statement if epoch is None else statement.with_for_update(read=True))
    if current_epoch is None:
        raise unknown_bot()
    if epoch is not None and current_epoch != epoch:
        raise Superseded(f"Bot {bot_id} is at epoch {current_epoch}, the writer at {epoch}.")
