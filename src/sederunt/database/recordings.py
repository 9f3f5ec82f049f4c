"""The store of standalone recordings; it has the same shape as that of bots, with a shorter life."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, bindparam, false, insert, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from sederunt import log
from sederunt.clock import Clock
from sederunt.database import outbox, usage
from sederunt.database import tables as t
from sederunt.database.columns import Moment, storable
from sederunt.database.deliveries import enqueue
from sederunt.database.engine import Database, OutboxRow
from sederunt.database.first_answers import FirstAnswer, keep_first_answer
from sederunt.database.holdings import (
    UNLIMITED,
    AccountLimits,
    Holding,
    forget_holding,
    note_holding,
    refuse_flooded,
    refuse_overfull,
)
from sederunt.database.json_rows import EVENT_COLUMNS, counted, events_of, gathered, sliced
from sederunt.database.paging import KeyPage, SegmentsPage, key_page, older_than
from sederunt.database.parts import Parts, weight
from sederunt.database.queries import Row, id_parameter
from sederunt.database.retention import kept_until, row_is_there, write_receipt
from sederunt.database.seats import lock_account
from sederunt.database.transcripts import transcript_of
from sederunt.errors import NotFound
from sederunt.model.history import STATUS_UPDATE, Event
from sederunt.model.recording import Recording, RecordingConfig
from sederunt.model.status import ForbiddenTransition, RecordingStatus, Trigger, advance_recording
from sederunt.model.transcript import Transcript
from sederunt.tracing import carried

logger = log.get(component="database")

# What `mark` and `record_transition(changes=…)` may write besides the status.
FACTS = frozenset({"recording_object", "recording_available_until", "detected_lang"})

_CONFIG_FIELDS = frozenset(field.name for field in fields(RecordingConfig))
_TRANSCRIBING = RecordingStatus.TRANSCRIBING.value


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingView:
    """One recording as its caller sees it."""

    recording: Recording
    events: tuple[Event, ...]
    segments_json: str  # the transcript's segments: a JSON array in the shape callers see
    transcript_lang: str | None

    @property
    def transcript(self) -> Transcript:
        """Return the transcript parsed; empty if there is none yet."""
        return transcript_of(self.segments_json, self.transcript_lang)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingOutline:
    """One recording, and the size of its view."""

    recording: Recording
    events: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingPage:
    """A page of recording overviews, and the cursor of the next page; None at the end."""

    recordings: tuple[Recording, ...]
    cursor: str | None


class Recordings:
    """Recordings, their history, and the messages that must be sent when they change."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or database.clock
        conditions = (t.recordings.c.account_id == id_parameter("account"), t.recordings.c.delete_requested == false())
        self._one = database.query(select(t.recordings).where(t.recordings.c.id == id_parameter("id")))
        self._owned = database.query(select(t.recordings).where(t.recordings.c.id == id_parameter("id"), *conditions))
        self._views = {
            is_paged: database.query(
                _view(is_paged=is_paged).where(t.recordings.c.id == id_parameter("id"), *conditions)
            )
            for is_paged in (False, True)
        }
        self._outline = database.query(_outline().where(t.recordings.c.id == id_parameter("id"), *conditions))
        self._parts = Parts(database, t.recordings, t.recordings.c.delete_requested == false())
        self._origin = database.query(select(t.recordings.c.origin).where(t.recordings.c.id == id_parameter("id")))
        self._expired = database.query(
            select(t.recordings.c.id)
            .where(
                t.recordings.c.media_removed_at.is_(None),
                t.recordings.c.media_until <= bindparam("now", type_=Moment()),
                t.recordings.c.status != _TRANSCRIBING,
            )
            .order_by(t.recordings.c.media_until)
            .limit(bindparam("most", type_=Integer()))
        )
        self._in_status = database.query(
            select(t.recordings)
            .where(t.recordings.c.status == bindparam("status"), t.recordings.c.delete_requested == false())
            .order_by(t.recordings.c.created_at)
        )

    async def create(
        self,
        recording: Recording,
        *,
        job: str | None,
        answer: FirstAnswer | None = None,
        holding: Holding | None = None,
        limits: AccountLimits = UNLIMITED,
    ) -> Recording:
        """Store a new recording and the message for its first job (`job.fetch` or `job.transcribe`).

        Args:
            answer: the response to the request, if it has an Idempotency-Key.
            holding: what is stored for the recording already.
            limits: what its account may have stored and in transcription when it asks for another recording.

        Raises AnsweredBefore, LimitReached; nothing is stored then.
        """
        messages = [outbox.job(job, "recording", recording.id, "created")] if job else []
        async with self._database.begin() as connection:
            if answer is not None:
                await keep_first_answer(connection, answer, recording.created_at)
            await lock_account(connection, recording.account_id)
            await refuse_overfull(connection, recording.account_id, limits)
            await refuse_flooded(connection, recording.account_id, holding.sound_s if holding else 0.0, limits)
            await connection.execute(insert(t.recordings).values({**_columns(recording), "origin": carried()}))
            if holding is not None:
                await note_holding(connection, holding)
            await row_is_there(connection, recording.id)
            rows = await outbox.post(connection, messages, self._database)
        self._database.announce(rows)
        return recording

    async def get(self, recording_id: UUID, account_id: UUID | None = None) -> Recording:
        """Return one recording. With an account: only if it belongs to that account and is not being deleted. Raises
        NotFound.
        """
        if account_id is None:
            row = await self._one.first(id=recording_id)
        else:
            row = await self._owned.first(id=recording_id, account=account_id)
        if row is None:
            raise _unknown()
        return _recording(row)

    async def origin(self, recording_id: UUID) -> Mapping[str, str]:
        """Return what the creating request carried; empty if that is unknown."""
        row = await self._origin.first(id=recording_id)
        return (row and row["origin"]) or {}

    async def account_of(self, recording_id: UUID) -> UUID | None:
        """Return the account of a recording; None if there is no such recording."""
        row = await self._one.first(id=recording_id)
        return None if row is None else row["account_id"]

    async def outline(self, recording_id: UUID, account_id: UUID) -> RecordingOutline:
        """Return a recording and the size of its view, without reading the view. Raises NotFound."""
        row = await self._outline.first(id=recording_id, account=account_id)
        if row is None:
            raise _unknown()
        return RecordingOutline(recording=_recording(row), events=row["events"])

    async def view(
        self, recording_id: UUID, account_id: UUID, *, segments: SegmentsPage | None = None
    ) -> RecordingView:
        """Return one recording with its events and transcript (only the page `segments` of it, if given), read by one
        statement. Raises NotFound.
        """
        query = self._views[segments is not None]
        row = await query.first(id=recording_id, account=account_id, **(asdict(segments) if segments else {}))
        if row is None:
            raise _unknown()
        return RecordingView(
            recording=_recording(row),
            events=events_of(row["events"]),
            segments_json=row["segments"] or "[]",
            transcript_lang=row["transcript_lang"],
        )

    async def events(self, recording_id: UUID) -> list[Event]:
        """Return the recording's history, oldest first."""
        history = select(t.recording_events).where(t.recording_events.c.recording_id == recording_id)
        rows = await self._database.query(history.order_by(t.recording_events.c.id)).all()
        return [Event(**{name: row[name] for name in EVENT_COLUMNS}) for row in rows]

    async def find(
        self,
        account_id: UUID,
        *,
        status: RecordingStatus | None = None,
        source_id: UUID | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> RecordingPage:
        """Return overviews of the account's recordings, newest first; see `listed`."""
        page = await self.listed(account_id, status=status, source_id=source_id, cursor=cursor, limit=limit)
        recordings = [_overview(row) async for rows in self._parts.read(page.keys) for row in rows]
        return RecordingPage(recordings=tuple(recordings), cursor=page.cursor)

    async def listed(
        self,
        account_id: UUID,
        *,
        status: RecordingStatus | None = None,
        source_id: UUID | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> KeyPage:
        """Return the keys of one page of the account's recordings, newest first. Raises InvalidConfig for a foreign
        cursor.

        Args:
            source_id: a bot or a recording; selects only those that transcribe its sound anew.
        """
        where: list[ColumnElement[bool]] = [
            t.recordings.c.account_id == account_id,
            t.recordings.c.delete_requested == false(),
        ]
        if status is not None:
            where.append(t.recordings.c.status == status.value)
        if source_id is not None:
            where.append(
                or_(t.recordings.c.source_bot_id == source_id, t.recordings.c.source_recording_id == source_id)
            )
        if cursor is not None:
            where.append(older_than(t.recordings, cursor))
        order = (t.recordings.c.created_at.desc(), t.recordings.c.id.desc())
        columns = (t.recordings.c.id, t.recordings.c.created_at, weight(self._database, t.recordings))
        statement = select(*columns).where(*where).order_by(*order).limit(limit + 1)
        return key_page(await self._database.query(statement).all_aside(), limit)

    async def parts(self, page: KeyPage) -> AsyncIterator[list[Recording]]:
        """Yield the recordings of a page, part by part, without those that were deleted meanwhile."""
        async for rows in self._parts.read(page.keys):
            yield [_recording(row) for row in rows]

    async def with_status(self, status: RecordingStatus) -> list[Recording]:
        """Return every recording of every account in a status, oldest first; for housekeeping."""
        return [_recording(row) for row in await self._in_status.all(status=status.value)]

    async def record_transition(
        self,
        recording_id: UUID,
        trigger: Trigger,
        *,
        data: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> Recording | None:
        """Move a recording by what happened to it: status, event and webhook in one transaction.

        Returns None (logged) if the trigger means nothing in its status. Raises NotFound.
        """
        facts = _facts(changes or {})
        try:
            async with self._database.begin() as connection:
                recording, rows = await self._move(connection, recording_id, trigger, data or {}, facts)
        except ForbiddenTransition as refusal:
            logger.info(
                str(refusal), action="transition_refused", recording_id=str(recording_id), trigger=trigger.value
            )
            return None
        self._database.announce(rows)
        return recording

    async def _move(
        self,
        connection: AsyncConnection,
        recording_id: UUID,
        trigger: Trigger,
        data: Mapping[str, Any],
        facts: Mapping[str, Any],
    ) -> tuple[Recording, list[OutboxRow]]:
        # With so few writers the row is simply locked; SQLite's transaction holds the only lock.
        statement = select(t.recordings).where(t.recordings.c.id == recording_id).with_for_update()
        row = (await connection.execute(statement)).mappings().first()
        if row is None or row["delete_requested"]:
            raise _unknown()
        new_status = advance_recording(RecordingStatus(row["status"]), trigger)
        now = self._clock.now()
        values = {**facts, "status": new_status.value, "finished_at": now}
        await connection.execute(update(t.recordings).where(t.recordings.c.id == recording_id).values(values))
        recording = _recording({**row, **values})
        await usage.note_recording(connection, recording, now)
        change = {**data, "old_status": row["status"], "new_status": new_status.value}
        return recording, await self._tell(connection, recording, change, now)

    async def _tell(
        self, connection: AsyncConnection, recording: Recording, data: Mapping[str, Any], now: datetime
    ) -> list[OutboxRow]:
        values = {"recording_id": recording.id, "event": STATUS_UPDATE, "data": dict(data), "created_at": now}
        statement = insert(t.recording_events).values(values).returning(t.recording_events.c.id)
        event_id = int(await connection.scalar(statement) or 0)
        if not recording.config.webhook_url:
            return []
        await enqueue(
            connection,
            resource="recording",
            resource_id=recording.id,
            account_id=recording.account_id,
            url=recording.config.webhook_url,
            event=Event(id=event_id, event=STATUS_UPDATE, data=data, created_at=now),
            custom_metadata={},
        )
        message = outbox.deliver("recording", recording.id, event_id)
        return await outbox.post(connection, [message], self._database)

    async def add_event(self, recording_id: UUID, event: str, data: Mapping[str, Any]) -> None:
        """Write an event that is no change of status."""
        values = {"recording_id": recording_id, "event": event, "data": dict(data), "created_at": self._clock.now()}
        async with self._database.begin() as connection:
            await connection.execute(insert(t.recording_events).values(values))

    async def mark(self, recording_id: UUID, *, job: str | None = None, **facts: Any) -> None:
        """Write facts and, with them, the message for the job that follows. Raises NotFound."""
        messages = [outbox.job(job, "recording", recording_id, "marked")] if job else []
        statement = update(t.recordings).where(t.recordings.c.id == recording_id).values(_facts(facts))
        async with self._database.begin() as connection:
            if (await connection.execute(statement)).rowcount != 1:
                raise _unknown()
            rows = await outbox.post(connection, messages, self._database)
        self._database.announce(rows)

    async def request_deletion(self, recording_id: UUID, account_id: UUID) -> Recording:
        """Hide a recording and write the receipt by which housekeeping removes it.

        Work in progress for it ends by itself. Raises NotFound.
        """
        conditions = (t.recordings.c.id == recording_id, t.recordings.c.account_id == account_id)
        statement = (
            update(t.recordings)
            .where(*conditions, t.recordings.c.delete_requested.is_(False))
            .values(delete_requested=true())
            .returning(*t.recordings.c)
        )
        async with self._database.begin() as connection:
            row = (await connection.execute(statement)).mappings().first()
            if row is None:
                raise _unknown()
            await write_receipt(connection, "recording", recording_id, account_id, self._clock.now())
        return _recording(dict(row))

    async def expired(self, now: datetime, *, limit: int = 100) -> list[UUID]:
        """Return recordings whose file has expired; see `media_removed`."""
        return [row["id"] for row in await self._expired.all(now=now, most=limit)]

    async def media_removed(self, recording_id: UUID) -> None:
        """Note that the recording's file expired and is deleted; the transcript stays readable."""
        values = {"media_removed_at": self._clock.now(), "recording_object": None}
        async with self._database.begin() as connection:
            await connection.execute(update(t.recordings).where(t.recordings.c.id == recording_id).values(values))
            await forget_holding(connection, recording_id)


def _outline() -> Select[Any]:
    events = counted("events", t.recording_events, t.recording_events.c.recording_id == t.recordings.c.id)
    return select(t.recordings, events)


def _view(*, is_paged: bool) -> Select[Any]:
    segments = sliced(t.transcripts.c.segments) if is_paged else t.transcripts.c.segments
    transcript = [segments, t.transcripts.c.detected_lang.label("transcript_lang")]
    events = gathered(
        "events", t.recording_events, EVENT_COLUMNS, t.recording_events.c.recording_id == t.recordings.c.id
    )
    return select(t.recordings, *transcript, events).join_from(
        t.recordings, t.transcripts, t.transcripts.c.resource_id == t.recordings.c.id, isouter=True
    )


def _columns(recording: Recording) -> dict[str, Any]:
    until = recording.recording_available_until
    for_1_year = recording.config.store_recording_for_1_year
    return {
        "id": recording.id,
        "account_id": recording.account_id,
        "config": asdict(recording.config),
        "status": recording.status.value,
        "created_at": recording.created_at,
        "finished_at": recording.finished_at,
        "source_url": recording.source_url and storable(recording.source_url),
        "source_bot_id": recording.source_bot_id,
        "source_recording_id": recording.source_recording_id,
        "recording_object": recording.recording_object,
        "recording_available_until": until,
        "detected_lang": recording.detected_lang,
        "key_id": recording.key_id,
        "media_until": until or kept_until("recording", for_1_year=for_1_year, since=recording.created_at),
    }


def _recording(row: Row) -> Recording:
    config = {name: value for name, value in row["config"].items() if name in _CONFIG_FIELDS}
    config["custom_vocabulary"] = tuple(config["custom_vocabulary"])
    if config.get("transcription_fallback") is not None:
        config["transcription_fallback"] = tuple(config["transcription_fallback"])
    if config["transcription_credentials"] is not None:
        config["transcription_credentials"] = UUID(config["transcription_credentials"])
    return Recording(
        id=row["id"],
        account_id=row["account_id"],
        config=RecordingConfig(**config),
        status=RecordingStatus(row["status"]),
        created_at=row["created_at"],
        source_url=row["source_url"],
        source_bot_id=row["source_bot_id"],
        source_recording_id=row["source_recording_id"],
        recording_object=row["recording_object"],
        recording_available_until=row["recording_available_until"],
        detected_lang=row["detected_lang"],
        finished_at=row["finished_at"],
        key_id=row["key_id"],
    )


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    unknown_names = facts.keys() - FACTS
    if unknown_names:
        raise ValueError(f"not facts of a recording: {', '.join(sorted(unknown_names))}")
    values = dict(facts)
    if values.get("recording_available_until") is not None:
        values["media_until"] = values["recording_available_until"]
    return values


def _overview(row: Row) -> Recording:
    """Return a recording without the fields that its caller may have made long: lists for people omit them."""
    recording = _recording(row)
    return replace(recording, config=replace(recording.config, custom_vocabulary=()))


def _unknown() -> NotFound:
    return NotFound("There is no recording with this id.")
