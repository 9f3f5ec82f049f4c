"""The store of corrections, in the order in which people made them. Search finds the corrected text."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import search
from sederunt.database import tables as t
from sederunt.database.columns import storable
from sederunt.database.engine import Database
from sederunt.database.queries import Row, id_parameter
from sederunt.database.transcripts import account_of_resource, owner_of, transcript_of
from sederunt.errors import NotFound
from sederunt.model.correction import Correction, CorrectionKind, corrected

_Corrections = tuple[Correction, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """The state from which a transcript's searchable lines are made. Another writer may change it at any time."""

    written_at: datetime | None  # time of the transcript; None if there is none
    corrections: tuple[UUID, ...]


class Corrections:
    """Corrections of bots' and recordings' transcripts. The caller has checked who owns the resource."""

    def __init__(self, database: Database) -> None:
        self._database = database
        of_resource = t.corrections.c.resource_id == id_parameter("id")
        self._of = database.query(select(t.corrections).where(of_resource).order_by(t.corrections.c.position))
        transcripts = select(t.transcripts.c.segments, t.transcripts.c.updated_at)
        self._transcript = database.query(transcripts.where(t.transcripts.c.resource_id == id_parameter("id")))
        self._account = database.query(account_of_resource())
        self._lines = database.query(search.kept_lines())

    async def of(self, resource_id: UUID) -> tuple[Correction, ...]:
        """Return the corrections of a resource, oldest first."""
        return _corrections(await self._of.all(id=resource_id))

    async def add(self, resource_id: UUID, correction: Correction) -> None:
        """Store a correction. Raises NotFound if its resource was deleted."""
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
        await self._change(
            resource_id, lambda corrections: (*corrections, correction), insert(t.corrections).values(values)
        )

    async def remove(self, resource_id: UUID, correction_id: UUID) -> None:
        """Take a correction back. Raises NotFound."""

        def without(corrections: _Corrections) -> _Corrections:
            remaining = tuple(correction for correction in corrections if correction.id != correction_id)
            if len(remaining) == len(corrections):
                raise NotFound("There is no correction with this id.")
            return remaining

        conditions = (t.corrections.c.id == correction_id, t.corrections.c.resource_id == resource_id)
        await self._change(resource_id, without, delete(t.corrections).where(*conditions))

    async def _change(self, resource_id: UUID, change: Callable[[_Corrections], _Corrections], statement: Any) -> None:
        """Change the corrections and what search finds.

        Correcting hours of words takes a second. That happens before the transaction, in which all others wait, and
        again if another change came in between.
        """
        account = await self._account.first(id=resource_id)
        if account is None:
            raise _deleted()
        is_written = False
        while not is_written:
            transcript = next(iter(await self._transcript.all_aside(id=resource_id)), None)
            corrections = await self.of(resource_id)
            stored_lines = await self._lines.all_aside(id=resource_id)
            lines = await asyncio.to_thread(
                self._changes, stored_lines, transcript, change(corrections), account["account_id"]
            )
            read_state = _Read(
                transcript["updated_at"] if transcript else None, tuple(correction.id for correction in corrections)
            )
            is_written = await self._write(resource_id, read_state, statement, lines)

    def _changes(
        self, stored_lines: Sequence[Row], transcript: Row | None, corrections: _Corrections, account_id: UUID
    ) -> search.LineChanges:
        original = transcript_of(transcript["segments"] if transcript else "[]", None)
        return search.line_changes(
            stored_lines, corrected(original, corrections).segments, account_id, is_sqlite=self._database.is_sqlite
        )

    async def _write(self, resource_id: UUID, read_state: _Read, statement: Any, lines: search.LineChanges) -> bool:
        """Return whether the state that was read is still current, and the change therefore written."""
        async with self._database.begin() as connection:
            owner = await owner_of(connection, resource_id)
            if owner is None:
                raise _deleted()
            if await _stands(connection, resource_id) != read_state:
                return False
            await connection.execute(statement)
            await search.change(connection, owner.resource, resource_id, owner.account_id, lines)
            return True


def _deleted() -> NotFound:
    return NotFound("What was transcribed here is deleted.")


async def _stands(connection: AsyncConnection, resource_id: UUID) -> _Read:
    """Return the current state. Nobody else changes it until the transaction ends."""
    transcript_query = select(t.transcripts.c.updated_at).where(t.transcripts.c.resource_id == resource_id)
    written_at = await connection.scalar(transcript_query.with_for_update())
    ids_query = select(t.corrections.c.id).where(t.corrections.c.resource_id == resource_id)
    ids = await connection.scalars(ids_query.order_by(t.corrections.c.position))
    return _Read(written_at, tuple(ids))


def _corrections(rows: Sequence[Any]) -> tuple[Correction, ...]:
    return tuple(
        Correction(
            **{name: value for name, value in row.items() if name not in ("position", "resource_id", "kind")},
            kind=CorrectionKind(row["kind"]),
        )
        for row in rows
    )
