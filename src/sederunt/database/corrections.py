"""The store of corrections, in the order in which they were made; search finds what is corrected."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import tables as t
from sederunt.database.columns import storable
from sederunt.database.engine import Database
from sederunt.database.queries import id_parameter
from sederunt.database.search import IndexedLine, lines_of
from sederunt.database.transcripts import index_lines, transcript_of
from sederunt.errors import NotFound
from sederunt.model.correction import Correction, CorrectionKind, corrected


class Corrections:
    """Corrections of bots' and recordings' transcripts. Whose a resource is, the caller has looked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        resource = t.corrections.c.resource_id == id_parameter("id")
        self._of = database.query(_in_order().where(resource))

    async def of(self, resource_id: UUID) -> tuple[Correction, ...]:
        """Return all of a resource, the oldest first."""
        return _corrections(await self._of.all(id=resource_id))

    async def add(self, resource_id: UUID, correction: Correction) -> None:
        """Store a correction."""
        values = {
            "id": correction.id,
            "resource_id": resource_id,
            "kind": correction.kind.value,
            "segment": correction.segment,
            "word": correction.word,
            "before": correction.before and storable(correction.before),
            "after": storable(correction.after),
            "made_by": storable(correction.made_by),
            "created_at": correction.created_at,
        }
        async with self._database.begin() as connection:
            await connection.execute(insert(t.corrections).values(values))
            await _index_anew(connection, resource_id)

    async def remove(self, resource_id: UUID, correction_id: UUID) -> None:
        """Take one back. Raises NotFound."""
        this = (t.corrections.c.id == correction_id, t.corrections.c.resource_id == resource_id)
        async with self._database.begin() as connection:
            if not (await connection.execute(delete(t.corrections).where(*this))).rowcount:
                raise NotFound("There is no correction with this id.")
            await _index_anew(connection, resource_id)


async def _index_anew(connection: AsyncConnection, resource_id: UUID) -> None:
    kept = select(t.transcripts.c.segments).where(t.transcripts.c.resource_id == resource_id)
    segments = await connection.scalar(kept)
    if segments is None:
        return
    made = await connection.execute(_in_order().where(t.corrections.c.resource_id == resource_id))
    corrections = _corrections(made.mappings().all())
    is_sqlite = connection.dialect.name == "sqlite"
    lines = await asyncio.to_thread(_corrected_lines, segments, corrections, is_sqlite=is_sqlite)
    await index_lines(connection, resource_id, lines)


def _corrected_lines(segments: str, corrections: Sequence[Correction], *, is_sqlite: bool) -> list[IndexedLine]:
    return lines_of(corrected(transcript_of(segments, None), corrections).segments, is_sqlite=is_sqlite)


def _in_order() -> Any:
    return select(t.corrections).order_by(t.corrections.c.position)


def _corrections(rows: Sequence[Any]) -> tuple[Correction, ...]:
    return tuple(
        Correction(
            **{name: value for name, value in row.items() if name not in ("position", "resource_id", "kind")},
            kind=CorrectionKind(row["kind"]),
        )
        for row in rows
    )
