"""The lines of meetings that are transcribed live. They are stored before they are published."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from sederunt.database import tables as t
from sederunt.database.columns import storable
from sederunt.database.engine import Database
from sederunt.database.queries import id_parameter
from sederunt.database.roster import check_holder
from sederunt.database.transcripts import segment_of, stored_segment
from sederunt.model.transcript import LiveLine

_RENEWED = ("revision", "start_ms", "voice", "segment")


class LiveLineStore:
    """The lines of all bots. They are deleted with their bot or its media."""

    def __init__(self, database: Database) -> None:
        self._database = database
        segments = t.live_segments
        self._of = database.query(
            select(segments)
            .where(segments.c.bot_id == id_parameter("id"))
            .order_by(segments.c.start_ms, segments.c.segment_id)
        )

    async def save(self, bot_id: UUID, lines: Sequence[LiveLine], *, epoch: int) -> None:
        """Write lines in place of those with the same ids. Raises Superseded, NotFound."""
        rows = [
            {
                "bot_id": bot_id,
                "segment_id": line.segment_id,
                "revision": line.revision,
                "start_ms": round(line.segment.start * 1000),
                "source": storable(line.source),
                "voice": storable(line.voice),
                "segment": stored_segment(line.segment),
            }
            for line in lines
        ]
        statement = (sqlite.insert if self._database.is_sqlite else postgresql.insert)(t.live_segments)
        statement = statement.on_conflict_do_update(
            index_elements=["bot_id", "segment_id"], set_={name: statement.excluded[name] for name in _RENEWED}
        )
        async with self._database.begin() as connection:
            await check_holder(connection, bot_id, epoch)
            await connection.execute(statement, rows)

    async def of(self, bot_id: UUID) -> list[LiveLine]:
        """Return the lines of one bot, by time."""
        return [
            LiveLine(
                segment_id=row["segment_id"],
                revision=row["revision"],
                source=row["source"],
                voice=row["voice"],
                segment=segment_of(row["segment"]),
            )
            for row in await self._of.all(id=bot_id)
        ]
