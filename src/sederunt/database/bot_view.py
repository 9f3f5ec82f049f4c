"""A bot with everything a caller sees of it, fetched by one statement: the hot path of the API."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, bindparam, false, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of, unknown_bot
from sederunt.database.columns import moment_of
from sederunt.database.engine import Database
from sederunt.database.queries import Row
from sederunt.database.transcripts import transcript_of
from sederunt.model.bot import Bot
from sederunt.model.history import Event
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import Transcript


@dataclass(frozen=True, kw_only=True, slots=True)
class BotView:
    """One bot as its caller sees it. The token in `bot.config.authentication` stays sealed: None."""

    bot: Bot
    events: tuple[Event, ...]
    participants: tuple[Participant, ...]  # their events only when asked for
    segments_json: str  # the transcript's segments: a JSON array in the shape callers see, ready to be passed on
    transcript_lang: str | None

    @property
    def transcript(self) -> Transcript:
        """The transcript parsed; empty where there is none yet."""
        return transcript_of(self.segments_json, self.transcript_lang)


class BotViews:
    """Reads views."""

    def __init__(self, database: Database) -> None:
        self._plain = database.query(_view(with_speaker_events=False))
        self._speaking = database.query(_view(with_speaker_events=True))

    async def get(self, bot_id: UUID, account_id: UUID, *, with_speaker_events: bool = False) -> BotView:
        """One bot of an account. Raises NotFound."""
        query = self._speaking if with_speaker_events else self._plain
        row = await query.first(id=bot_id, account=account_id)
        if row is None:
            raise unknown_bot()
        return _view_of(row)


class _Gathered(FunctionElement[str]):
    """Columns of many rows as one JSON array of arrays."""

    type = Text()
    inherit_cache = True


@compiles(_Gathered, "sqlite")
def _gather_sqlite(element: _Gathered, compiler: Any, **options: Any) -> str:
    return f"json_group_array(json_array({compiler.process(element.clauses, **options)}))"


@compiles(_Gathered, "postgresql")
def _gather_postgresql(element: _Gathered, compiler: Any, **options: Any) -> str:
    return f"json_agg(json_build_array({compiler.process(element.clauses, **options)}))::text"


def _gathered(name: str, *columns: ColumnElement[Any]) -> ColumnElement[Any]:
    owner = columns[0].table
    return select(_Gathered(*columns)).where(owner.c.bot_id == t.bots.c.id).scalar_subquery().label(name)


def _view(*, with_speaker_events: bool) -> Select[Any]:
    events, people, speaking = t.bot_events.c, t.participants.c, t.speaking_events.c
    gathered = [
        _gathered("events", events.id, events.event, events.data, events.created_at),
        _gathered("people", people.position, people.key, people.name, people.avatar, people.first_seen_at),
    ]
    if with_speaker_events:
        gathered.append(_gathered("speaking", speaking.participant, speaking.at_ms, speaking.type))
    transcript = [t.transcripts.c.segments, t.transcripts.c.detected_lang.label("transcript_lang")]
    return (
        select(t.bots, *transcript, *gathered)
        .join_from(t.bots, t.transcripts, t.transcripts.c.resource_id == t.bots.c.id, isouter=True)
        .where(
            t.bots.c.id == bindparam("id", type_=t.bots.c.id.type),
            t.bots.c.account_id == bindparam("account", type_=t.bots.c.account_id.type),
            t.bots.c.delete_requested == false(),
        )
    )


def _view_of(row: Row) -> BotView:
    spoken: dict[str, list[SpeakingEvent]] = {}
    # Of one moment, the stop belongs first.
    for key, at_ms, kind in sorted(_rows(row.get("speaking")), key=lambda s: (s[1], s[2] != SpeakingKind.STOPPED)):
        spoken.setdefault(key, []).append(SpeakingEvent(type=SpeakingKind(kind), timestamp=at_ms))
    return BotView(
        bot=bot_of(row),
        events=tuple(
            Event(id=id_, event=event, data=json.loads(data), created_at=moment_of(created_at))
            for id_, event, data, created_at in sorted(_rows(row["events"]))
        ),
        participants=tuple(
            Participant(
                key=key,
                name=name,
                avatar=avatar,
                first_seen_at=moment_of(first_seen_at),
                events=tuple(spoken.get(key, ())),
            )
            for _, key, name, avatar, first_seen_at in sorted(_rows(row["people"]), key=lambda person: person[0])
        ),
        segments_json=row["segments"] or "[]",
        transcript_lang=row["transcript_lang"],
    )


def _rows(gathered: str | None) -> Sequence[Any]:
    rows: Sequence[Any] = json.loads(gathered) if gathered else ()
    return rows
