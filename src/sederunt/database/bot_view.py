"""A bot with everything a caller sees of it, read by one statement: the hot path of the API."""

import asyncio
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select

from sederunt.database import tables as t
from sederunt.database.bot_rows import bot_of, unknown_bot
from sederunt.database.columns import moment_of
from sederunt.database.engine import Database
from sederunt.database.json_rows import EVENT_COLUMNS, counted, events_of, gathered, rows_of, sliced
from sederunt.database.paging import SegmentsPage
from sederunt.database.queries import Row, id_parameter
from sederunt.database.transcripts import transcript_of
from sederunt.model.bot import Bot
from sederunt.model.history import Event
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.transcript import Transcript

_LONG = 200_000  # characters of speaking events; more than these are parsed in a thread
_PERSON_COLUMNS = ("position", "key", "name", "avatar", "first_seen_at")


@dataclass(frozen=True, kw_only=True, slots=True)
class BotView:
    """One bot as its caller sees it. The token in `bot.config.authentication` stays sealed: None."""

    bot: Bot
    events: tuple[Event, ...]
    participants: tuple[Participant, ...]  # with events only on request
    segments_json: str  # the transcript's segments: a JSON array in the shape callers see
    transcript_lang: str | None

    @property
    def transcript(self) -> Transcript:
        """Return the transcript parsed; empty if there is none yet."""
        return transcript_of(self.segments_json, self.transcript_lang)


@dataclass(frozen=True, kw_only=True, slots=True)
class BotOutline:
    """One bot, and the size of its view."""

    bot: Bot
    events: int
    participants: int


class BotViews:
    """Reads views."""

    def __init__(self, database: Database) -> None:
        self._views = {
            (with_speaking, is_paged): database.query(_view(with_speaker_events=with_speaking, is_paged=is_paged))
            for with_speaking in (False, True)
            for is_paged in (False, True)
        }
        self._outline = database.query(_outline())

    async def get(
        self,
        bot_id: UUID,
        account_id: UUID,
        *,
        with_speaker_events: bool = False,
        segments: SegmentsPage | None = None,
    ) -> BotView:
        """Return one bot of an account, with only these segments of its transcript if given. Raises NotFound."""
        query = self._views[with_speaker_events, segments is not None]
        row = await query.first(id=bot_id, account=account_id, **(asdict(segments) if segments else {}))
        if row is None:
            raise unknown_bot()
        if len(row.get("speaking") or "") > _LONG:
            return await asyncio.to_thread(_view_of, row)
        return _view_of(row)

    async def outline(self, bot_id: UUID, account_id: UUID) -> BotOutline:
        """Return a bot and the size of its view, without reading the view. Raises NotFound."""
        row = await self._outline.first(id=bot_id, account=account_id)
        if row is None:
            raise unknown_bot()
        return BotOutline(bot=bot_of(row), events=row["events"], participants=row["people"])


def _outline() -> Select[Any]:
    counts = (
        counted("events", t.bot_events, t.bot_events.c.bot_id == t.bots.c.id),
        counted("people", t.participants, t.participants.c.bot_id == t.bots.c.id),
    )
    return select(t.bots, *counts).where(*_seen_by_its_account())


def _seen_by_its_account() -> tuple[ColumnElement[bool], ...]:
    return (
        t.bots.c.id == id_parameter("id"),
        t.bots.c.account_id == id_parameter("account"),
        t.IS_VISIBLE,
    )


def _view(*, with_speaker_events: bool, is_paged: bool) -> Select[Any]:
    children = [
        gathered("events", t.bot_events, EVENT_COLUMNS, t.bot_events.c.bot_id == t.bots.c.id),
        gathered("people", t.participants, _PERSON_COLUMNS, t.participants.c.bot_id == t.bots.c.id),
    ]
    if with_speaker_events:
        belongs_to_bot = t.speaking_events.c.bot_id == t.bots.c.id
        children.append(gathered("speaking", t.speaking_events, ("participant", "at_ms", "type"), belongs_to_bot))
    segments = sliced(t.transcripts.c.segments) if is_paged else t.transcripts.c.segments
    transcript = [segments, t.transcripts.c.detected_lang.label("transcript_lang")]
    return (
        select(t.bots, *transcript, *children)
        .join_from(t.bots, t.transcripts, t.transcripts.c.resource_id == t.bots.c.id, isouter=True)
        .where(*_seen_by_its_account())
    )


def _view_of(row: Row) -> BotView:
    speaking_events: dict[str, list[SpeakingEvent]] = {}
    # At the same moment, a stop comes before a start.
    for key, at_ms, kind in sorted(
        rows_of(row.get("speaking")), key=lambda event: (event[1], event[2] != SpeakingKind.STOPPED)
    ):
        speaking_events.setdefault(key, []).append(SpeakingEvent(type=SpeakingKind(kind), timestamp=at_ms))
    return BotView(
        bot=bot_of(row),
        events=events_of(row["events"]),
        participants=tuple(
            Participant(
                key=key,
                name=name,
                avatar=avatar,
                first_seen_at=moment_of(first_seen_at),
                events=tuple(speaking_events.get(key, ())),
            )
            for _, key, name, avatar, first_seen_at in sorted(rows_of(row["people"]), key=lambda person: person[0])
        ),
        segments_json=row["segments"] or "[]",
        transcript_lang=row["transcript_lang"],
    )
