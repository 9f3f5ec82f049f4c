"""Transcripts of bots and recordings, kept in the JSON shape that callers see."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import CompoundSelect, literal, select, union_all
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt.database import search
from sederunt.database import tables as t
from sederunt.database.columns import document_text
from sederunt.database.engine import Database
from sederunt.database.queries import id_parameter
from sederunt.model.transcript import NameGuess, Segment, Transcript, Utterance, Word

_ROWS = (("bot", t.bots), ("recording", t.recordings))


class Transcripts:
    """One transcript per resource; saving replaces it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._account = database.query(account_of_resource())
        self._one = database.query(select(t.transcripts).where(t.transcripts.c.resource_id == id_parameter("id")))

    async def save(self, resource_id: UUID, transcript: Transcript) -> None:
        """Write a transcript in place of the previous one, and make it searchable.

        Writes nothing for a resource that is deleted or about to be: its receipt may be closed already.
        """
        account = await self._account.first(id=resource_id)
        if account is None:
            return
        # Hours of words take seconds, so this runs outside the event loop and before the transaction.
        segments, lines = await asyncio.to_thread(self._forms_of, transcript, account["account_id"])
        values = {
            "segments": segments,
            "detected_lang": transcript.detected_lang,
            "updated_at": self._database.clock.now(),
        }
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        statement = dialect_insert(t.transcripts).values(resource_id=resource_id, **values)
        # Refers to the new values instead of sending them twice: hours of words are megabytes.
        new_values = {name: statement.excluded[name] for name in values}
        statement = statement.on_conflict_do_update(index_elements=["resource_id"], set_=new_values)
        async with self._database.begin() as connection:
            if (owner := await owner_of(connection, resource_id)) is not None:
                await connection.execute(statement)
                await search.index(connection, owner.resource, resource_id, owner.account_id, lines)

    async def get(self, resource_id: UUID) -> Transcript | None:
        """Return the transcript, or None if there is none (yet)."""
        row = await self._one.first(id=resource_id)
        return transcript_of(row["segments"], row["detected_lang"]) if row else None

    def _forms_of(self, transcript: Transcript, account_id: UUID) -> tuple[str, Sequence[search.IndexedLine]]:
        is_sqlite = self._database.is_sqlite
        return segments_text(transcript), search.lines_of(transcript.segments, account_id, is_sqlite=is_sqlite)


def account_of_resource() -> CompoundSelect[Any]:
    """Return the statement that reads the account of a bot or recording, by its `id`."""
    return union_all(*(select(table.c.account_id).where(table.c.id == id_parameter("id")) for _, table in _ROWS))


async def owner_of(connection: AsyncConnection, resource_id: UUID) -> Any:
    """Return the kind and the account of a resource; None if it is deleted or about to be.

    Until the transaction ends nobody can request its deletion, so a later removal of the rows finds what is written
    here.
    """
    for resource, table in _ROWS:
        statement = select(table.c.account_id, literal(resource).label("resource")).where(
            table.c.id == resource_id, table.c.delete_requested.is_(False)
        )
        owner = (await connection.execute(statement.with_for_update(read=True))).first()
        if owner is not None:
            return owner
    return None


def segments_text(transcript: Transcript) -> str:
    """Return the segments as JSON: an array with the fields of model.transcript under their own names.

    Segments are serialised one by one: as plain values, four hours of words take four times the memory of their text.
    """
    lang = transcript.detected_lang
    return f"[{','.join(document_text(stored_segment(segment, lang)) for segment in transcript.segments)}]"


def stored_segment(segment: Segment, detected_lang: str | None = None) -> dict[str, Any]:
    """Return a segment's stored form, as `segment_of` reads it.

    An utterance has `lang` only if it differs from the transcript's: a process of the previous release does not know
    that field, but reads all others.
    """
    usual_langs = (None, (detected_lang or "").lower().partition("-")[0])
    values = asdict(segment)
    for utterance in values["utterances"]:
        if utterance["lang"] in usual_langs:
            del utterance["lang"]
    return values


def transcript_of(segments: str, detected_lang: str | None) -> Transcript:
    """Return a transcript from its stored form."""
    return Transcript(
        segments=tuple(segment_of(segment) for segment in json.loads(segments)), detected_lang=detected_lang
    )


def segment_of(values: Mapping[str, Any]) -> Segment:
    """Return one segment from its stored form."""
    guesses = values["potential_speaker_names"]
    return Segment(
        **{
            **values,
            "utterances": tuple(
                Utterance(**{**utterance, "words": tuple(Word(**word) for word in utterance["words"])})
                for utterance in values["utterances"]
            ),
            "potential_speaker_names": None if guesses is None else tuple(NameGuess(**guess) for guess in guesses),
        }
    )
