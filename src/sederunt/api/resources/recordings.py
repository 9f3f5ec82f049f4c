"""The handlers of standalone recordings: create from an upload or another source, read, list, delete."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from starlette.responses import Response

from sederunt import log
from sederunt.api.call import Call
from sederunt.api.failures import message_response, text_response
from sederunt.api.idempotency import REPEATED, KeyedRequest, answer_once, key_of
from sederunt.api.resources.lists import list_response, looking
from sederunt.api.resources.removal import remove_files
from sederunt.api.schemas.faults import Faults, add, in_order, read
from sederunt.api.schemas.requests import RecordingFields, recording_config, settings_of_source
from sederunt.api.schemas.views import (
    page_json,
    plain_recording_json,
    recording_json,
    recording_summary,
    recording_values,
)
from sederunt.api.transport.etags import etag_of, is_asked
from sederunt.api.transport.tagged import known_response, tagged_response
from sederunt.api.transport.uploads import Form, Upload, boundary_of, form_values, take_form
from sederunt.database.holdings import Holding, Holdings, refuse_stored
from sederunt.database.ids import new_id
from sederunt.database.retention import kept_until
from sederunt.errors import InvalidConfig, MediaError, NotFound
from sederunt.model.bot import Bot
from sederunt.model.recording import Recording
from sederunt.model.status import RecordingStatus
from sederunt.transcription.models import batch_models

logger = log.get(component="api")

UPLOADS, UPLOAD_AGAIN_S = "uploads", 5
_NAMED_SOURCES = ("recording_url", "meeting_bot_id", "recording_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """The source of the sound; exactly one of the four is set."""

    stored: Upload | None = None
    stored_bytes: int | None = None  # of the upload, or of all files of the bot or recording to copy
    sound_s: float = 0.0
    url: str | None = None
    bot: Bot | None = None
    recording: Recording | None = None

    @property
    def job(self) -> str:
        return "job.transcribe" if self.stored else "job.fetch"


async def create_recording(call: Call) -> Response:
    """Answer POST /recording"""
    boundary = boundary_of(call.request)
    if boundary is None:
        body = await call.body()
        recording_id = new_id(call.context.clock.now())
        return await answer_once(
            call, body, lambda keyed_request: _accept(call, recording_id, body, None, keyed_request)
        )
    recording_id = new_id(call.context.clock.now())
    stored_bytes = await Holdings(call.context.database).stored_bytes(call.account_id)
    refuse_stored(stored_bytes, call.context.account_limits.stored_gb)  # before a gigabyte is read in vain
    with _on_its_way(call):
        return await _take_upload(call, boundary, recording_id)


@contextmanager
def _on_its_way(call: Call) -> Iterator[None]:
    """Count an upload until it is complete: until then no table counts its bytes.

    Raises TooManyRequests if the account has too many of them.
    """
    ledger = call.context.ledger
    sentence = f"This account has {ledger.share(UPLOADS, call.account_id):g} uploads on their way: send this one later."
    with (
        ledger.place(UPLOADS, call.account_id, full=sentence, again_s=UPLOAD_AGAIN_S),
        call.context.metrics.uploads.track_inprogress(),
    ):
        yield


async def _take_upload(call: Call, boundary: str, recording_id: UUID) -> Response:
    """Accept a form with a file; the file is removed if the request is refused or is a repetition."""
    key = f"recordings/{recording_id}/source"
    try:
        await call.context.deletions.expect_row("recording", recording_id, call.account_id)
        form = await take_form(
            call.request,
            boundary,
            call.context.objects,
            key,
            file_field="recording_file",
            most_bytes=call.context.settings.api.max_upload_bytes,
            digest=key_of(call.request) is not None,
        )
        upload = await _chosen_file(call, form)
        if upload is not None:
            call.context.metrics.uploaded_bytes.inc(upload.size)
        await call.context.socket_holders.refuse_who_is_over(call.caller)  # receiving a large file takes long
        values = form_values(RecordingFields, form.fields)
        answer = await answer_once(
            call,
            [values, upload.digest if upload else None],
            lambda keyed_request: _accept(call, recording_id, values, upload, keyed_request),
        )
        if REPEATED in answer.headers:
            await _forget_upload(call, recording_id)
        return answer
    except BaseException:
        if not await _may_have_row(call, recording_id):
            await _forget_upload(call, recording_id)
        raise


async def _chosen_file(call: Call, form: Form) -> Upload | None:
    """Return the file of a form. Web pages send a file input without a choice as an empty file, which is removed, as is
    an empty file beside another source.
    """
    upload = form.upload
    if upload is None or upload.size > 0:
        return upload
    if upload.filename and not any(any(form.fields.get(name, ())) for name in _NAMED_SOURCES):
        return upload  # is refused later, with its name
    await call.context.objects.delete(upload.key)
    return None


async def _may_have_row(call: Call, recording_id: UUID) -> bool:
    """Return whether a failed upload may have its row all the same, because only the commit's confirmation was lost.

    True also if the database does not answer: housekeeping removes a file without a row after a day (`expect_row`).
    """
    try:
        return await call.context.recordings.account_of(recording_id) is not None
    except Exception as error:  # any driver error
        logger.warning("upload left to its receipt", action="upload_left", id=str(recording_id), error=str(error))
        return True


async def _forget_upload(call: Call, recording_id: UUID) -> None:
    await call.context.objects.delete_prefix(f"recordings/{recording_id}/")
    await call.context.deletions.expect_none(recording_id)


async def _accept(
    call: Call, recording_id: UUID, body: object, upload: Upload | None, keyed_request: KeyedRequest | None
) -> Response:
    """Check everything, then store row and job together."""
    request = read(RecordingFields, body)
    faults = request.faults
    if isinstance(body, Mapping) and upload is None and body.get("recording_file") is not None:
        add(faults, "recording_file", "recording_file must be sent as a file, in multipart/form-data.")
    source = await _source(call, request.fields, faults, upload)
    origin = source.bot or source.recording
    base = settings_of_source(origin.config) if origin else None
    config = None
    if request.fields.transcription_model is None and base is None:
        if not {"meeting_bot_id", "recording_id"} & set(faults):  # a valid source would have provided its own model
            faults.setdefault("transcription_model", ["transcription_model is required."])
    else:
        config = recording_config(request.fields, base)
        _check_model(config.transcription_model, faults)
        await call.context.checks.recording(call.account_id, config, faults)
    if faults or config is None:
        raise InvalidConfig(in_order(RecordingFields, faults))
    now = call.context.clock.now()
    recording = Recording(
        id=recording_id,
        account_id=call.account_id,
        config=config,
        status=RecordingStatus.TRANSCRIBING,
        created_at=now,
        key_id=call.caller.key_id,
        source_url=source.url,
        source_bot_id=source.bot.id if source.bot else source.recording.source_bot_id if source.recording else None,
        source_recording_id=source.recording.id if source.recording else None,
        recording_object=source.stored.key if source.stored else None,
        recording_available_until=kept_until("recording", for_1_year=config.store_recording_for_1_year, since=now),
    )
    text = plain_recording_json(recording, call.addresses)
    answer = keyed_request.answered(recording.id, text) if keyed_request else None
    await call.context.recordings.create(
        recording,
        job=source.job,
        answer=answer,
        holding=_holding(recording, source),
        limits=call.context.account_limits,
    )
    logger.info("recording created", action="recording_created", recording_id=str(recording.id), job=source.job)
    return text_response(text)


def _holding(recording: Recording, source: _Source) -> Holding | None:
    """Return what a recording stores, at once or when it is copied; None if it is still to be fetched."""
    if source.stored_bytes is None:
        return None
    return Holding(
        resource="recording",
        resource_id=recording.id,
        account_id=recording.account_id,
        stored_bytes=source.stored_bytes,
        sound_s=source.sound_s,
    )


async def _source(call: Call, fields: RecordingFields, faults: Faults, upload: Upload | None) -> _Source:
    """Return the one source in the request, and add its faults."""
    is_given = [getattr(fields, name) is not None for name in _NAMED_SOURCES]
    if sum(is_given) + (upload is not None) != 1 and not {"recording_file", *_NAMED_SOURCES} & set(faults):
        choices = f"recording_file, {', '.join(_NAMED_SOURCES[:-1])} and {_NAMED_SOURCES[-1]}"
        add(faults, "recording_file", f"Exactly one of {choices} is required.")
        return _Source()
    if upload is not None:
        try:
            most_hours = call.context.settings.api.max_recording_hours
            sound_s = await upload.check(call.context.readers, call.account_id, most_hours=most_hours)
        except MediaError as error:
            add(faults, "recording_file", f"recording_file cannot be used: {error}")
            sound_s = 0.0
        return _Source(stored=upload, stored_bytes=upload.size, sound_s=sound_s)
    if fields.recording_url is not None:
        return _Source(url=fields.recording_url)
    if fields.meeting_bot_id is not None:
        bot = await _source_bot(call, fields.meeting_bot_id, faults)
        return _Source(bot=bot, **(await _held(call, bot)))
    if fields.recording_id is not None:
        recording = await _source_recording(call, fields.recording_id, faults)
        return _Source(recording=recording, **(await _held(call, recording)))
    return _Source()


async def _held(call: Call, source: Bot | Recording | None) -> dict[str, Any]:
    """Return the size of a copy in advance; otherwise a thousand copies would be accepted as if they were empty."""
    holding = await Holdings(call.context.database).of(source.id) if source else None
    return {"stored_bytes": holding.stored_bytes, "sound_s": holding.sound_s} if holding else {}


async def _source_bot(call: Call, bot_id: UUID, faults: Faults) -> Bot | None:
    try:
        bot = await call.context.bots.get(bot_id, call.account_id)
    except NotFound:
        add(faults, "meeting_bot_id", "meeting_bot_id is not the id of one of your bots.")
        return None
    if bot.recording_object is None:
        add(faults, "meeting_bot_id", f"meeting_bot_id names a bot without a recording; it is {bot.status}.")
    return bot


async def _source_recording(call: Call, recording_id: UUID, faults: Faults) -> Recording | None:
    try:
        recording = await call.context.recordings.get(recording_id, call.account_id)
    except NotFound:
        add(faults, "recording_id", "recording_id is not the id of one of your recordings.")
        return None
    if recording.recording_object is None:
        add(faults, "recording_id", f"recording_id names a recording without a file; it is {recording.status}.")
    return recording


def _check_model(identifier: str, faults: Faults) -> None:
    """Refuse a model, taken over from a bot, that cannot transcribe recordings. Models that callers may name for bots
    only are accepted: they transcribed this very sound.
    """
    if "transcription_model" not in faults and not batch_models([identifier]):
        sentence = f"transcription_model must be given: the bot's own, '{identifier}', is not for recordings."
        add(faults, "transcription_model", sentence)


async def get_recording(call: Call) -> Response:
    """Answer GET /recording/{id}"""
    recording_id, segments = call.id("recording"), call.segments()
    addresses, query = call.addresses, segments and asdict(segments)
    bodies = call.context.bodies
    if is_asked(call.request) or bodies.has(recording_id):
        outline = await call.context.recordings.outline(recording_id, call.account_id)
        if outline.recording.status is not RecordingStatus.TRANSCRIBING:
            etag = etag_of(recording_values(outline.recording, addresses), outline.events, query)
            if (response := await known_response(call.request, bodies, recording_id, etag)) is not None:
                return response
    view = await call.context.recordings.view(recording_id, call.account_id, segments=segments)
    text = recording_json(view, addresses)
    if view.recording.status is RecordingStatus.TRANSCRIBING:
        return text_response(text)
    etag = etag_of(recording_values(view.recording, addresses), len(view.events), query)
    return await tagged_response(call.request, bodies, recording_id, etag, text.encode())


async def list_recordings(call: Call) -> Response:
    """Answer GET /recording: newest first, without transcript and events."""
    addresses = call.addresses
    async with looking(call):
        page = await call.context.recordings.listed(call.account_id, **recordings_asked_for(call))
    parts = call.context.recordings.parts(page)
    texts = ([json.dumps(recording_summary(recording, addresses)) for recording in part] async for part in parts)
    return await list_response(call, page_json(texts, page.cursor))


def recordings_asked_for(call: Call) -> dict[str, Any]:
    """Return the page of recordings that the query asks for, as arguments of `listed`. Raises InvalidConfig."""
    return {
        "status": call.word("status", RecordingStatus),
        "source_id": call.uuid("source"),
        "cursor": call.request.query_params.get("cursor") or None,
        "limit": call.integer("limit", default=50, least=1, most=200),
    }


async def delete_recording(call: Call) -> Response:
    """Answer DELETE /recording/{id}"""
    recording = await call.context.recordings.request_deletion(call.id("recording"), call.account_id)
    call.context.bodies.forget(recording.id)
    logger.info("recording deleted", action="recording_deleted", recording_id=str(recording.id))
    await remove_files(call.context.objects, f"recordings/{recording.id}/")
    return message_response("The recording and its data were deleted.")
