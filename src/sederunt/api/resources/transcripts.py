"""Corrected transcripts in every format; corrections; search over all transcripts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.schemas.account_requests import CorrectionFields
from sederunt.api.schemas.faults import Faults, Read, add, read
from sederunt.api.schemas.views import moment
from sederunt.database.bot_view import BotView
from sederunt.database.ids import new_id
from sederunt.database.outbox import Resource
from sederunt.database.recordings import RecordingView
from sederunt.database.search import SearchableLine, cursor_number
from sederunt.database.transcripts import segments_text
from sederunt.errors import Conflict, InvalidConfig, LimitReached
from sederunt.model.budgets import count_of
from sederunt.model.correction import Correction, CorrectionKind, corrected, word_at
from sederunt.model.participant import Participant
from sederunt.model.search_terms import Phrase, excerpt, phrases
from sederunt.model.transcript import Segment, Transcript
from sederunt.transcripts.export import FORMATS

LONGEST_QUESTION = 200
MOST_CORRECTIONS = count_of("corrections")


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A transcript with its corrections."""

    resource: Resource
    resource_id: UUID
    title: str
    created_at: datetime
    heard: Transcript
    corrections: tuple[Correction, ...]
    participants: tuple[Participant, ...]

    @property
    def read(self) -> Transcript:
        """Return the transcript with its corrections applied."""
        return corrected(self.heard, self.corrections)


async def get_bot_transcript(call: Call) -> Response:
    """Answer GET /bot/{id}/transcript"""
    return await _answer(call, "bot")


async def get_recording_transcript(call: Call) -> Response:
    """Answer GET /recording/{id}/transcript"""
    return await _answer(call, "recording")


async def correct_bot(call: Call) -> Response:
    """Answer POST /bot/{id}/correction"""
    return await _correct(call, "bot")


async def correct_recording(call: Call) -> Response:
    """Answer POST /recording/{id}/correction"""
    return await _correct(call, "recording")


async def take_back_in_bot(call: Call) -> Response:
    """Answer DELETE /bot/{id}/correction/{correction}"""
    return await _take_back(call, "bot")


async def take_back_in_recording(call: Call) -> Response:
    """Answer DELETE /recording/{id}/correction/{correction}"""
    return await _take_back(call, "recording")


async def search(call: Call) -> Response:
    """Answer GET /search"""
    return json_response(await search_values(call))


async def search_values(call: Call) -> dict[str, Any]:
    """Return the matches of `q` in the account's transcripts, newest first. Raises InvalidConfig."""
    query = call.request.query_params.get("q", "")
    if not query.strip() or len(query) > LONGEST_QUESTION or "\x00" in query:
        raise InvalidConfig({"q": [f"q must be words to look for, up to {LONGEST_QUESTION} characters."]})
    limit = call.integer("limit", default=20, least=1, most=100)
    before = cursor_number(call.request.query_params.get("cursor") or None)
    terms = phrases(query)
    async with call.context.long_answers.turn(call.account_id):
        lines = await call.context.stores.search.find(call.account_id, terms, before=before, limit=limit + 1)
        data = await asyncio.to_thread(_found_values, lines[:limit], terms)  # a segment may be an hour long
    return {"data": data, "next_cursor": str(lines[limit - 1].id) if len(lines) > limit else None}


def _found_values(lines: Sequence[SearchableLine], terms: Sequence[Phrase]) -> list[dict[str, Any]]:
    return [
        {
            "resource": line.resource,
            "id": str(line.resource_id),
            "segment": line.segment,
            "start": line.start_ms / 1000,
            "end": line.end_ms / 1000,
            "speaker_name": line.speaker,
            "excerpt": [{"text": part.text, "match": part.is_match} for part in excerpt(line.text, terms)],
        }
        for line in lines
    ]


async def written(call: Call, resource: Resource) -> Written:
    """Return the transcript of the bot or recording in the path. Raises NotFound."""
    resource_id = call.id(resource)
    corrections = call.context.stores.corrections
    view: BotView | RecordingView
    if resource == "bot":
        view = await call.context.bots.view(resource_id, call.account_id)
        title, created_at, participants = view.bot.config.bot_name, view.bot.created_at, view.participants
    else:
        view = await call.context.recordings.view(resource_id, call.account_id)
        title, created_at, participants = "Recording", view.recording.created_at, ()
    return Written(
        resource=resource,
        resource_id=resource_id,
        title=title,
        created_at=created_at,
        heard=await asyncio.to_thread(lambda: view.transcript),  # a transcript of hours takes a good part of a second
        corrections=await corrections.of(resource_id),
        participants=participants,
    )


def correction_values(correction: Correction) -> dict[str, Any]:
    return {
        "id": str(correction.id),
        "kind": correction.kind.value,
        "segment": correction.segment,
        "word": correction.word,
        "before": correction.before,
        "after": correction.after,
        "made_by": correction.made_by,
        "created_at": moment(correction.created_at),
    }


async def _answer(call: Call, resource: Resource) -> Response:
    async with call.context.long_answers.turn(call.account_id):
        document = await written(call, resource)
        return await asyncio.to_thread(_response, call, document)  # another good part of a second


def _response(call: Call, document: Written) -> Response:
    """Return the transcript in the requested format, without corrections if `corrected=false`."""
    format_name = call.request.query_params.get("format", "json")
    as_heard = "corrected" in call.request.query_params and not call.flag("corrected")
    transcript = document.heard if as_heard else document.read
    if format_name == "json":
        fields = json_response(
            {
                "id": str(document.resource_id),
                "detected_lang": transcript.detected_lang,
                "corrections": [correction_values(correction) for correction in document.corrections],
            }
        ).body
        body = f'{bytes(fields).decode()[:-1]}, "transcript": {segments_text(transcript)}}}'
        return Response(body, media_type="application/json")
    if format_name not in FORMATS:
        raise InvalidConfig({"format": [f"format must be one of: json, {', '.join(FORMATS)}."]})
    media_type, write = FORMATS[format_name]
    name = f"transcript-{str(document.resource_id)[:8]}.{format_name}"
    title = f"{document.title}, {document.created_at:%Y-%m-%d %H:%M} UTC"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return Response(write(transcript, title).encode("utf-8", "replace"), headers=headers, media_type=media_type)


async def _correct(call: Call, resource: Resource) -> Response:
    request = read(CorrectionFields, await call.body())
    _refuse(request.faults)
    async with call.context.long_answers.turn(call.account_id):
        return await _corrected(call, resource, request)


async def _corrected(call: Call, resource: Resource, request: Read[CorrectionFields]) -> Response:
    document = await written(call, resource)
    if len(document.corrections) >= MOST_CORRECTIONS:
        sentence = f"A transcript has {MOST_CORRECTIONS} corrections at the most: take one back."
        raise LimitReached(sentence, "corrections")
    before = await asyncio.to_thread(_checked, request, document)
    now = call.context.clock.now()
    correction = Correction(
        id=new_id(now),
        kind=CorrectionKind(request.fields.kind),
        segment=None if request.fields.kind == CorrectionKind.PARTICIPANT else request.fields.segment,
        word=request.fields.word if request.fields.kind == CorrectionKind.WORD else None,
        before=before,
        after=request.fields.after,
        made_by=call.caller.name,
        created_at=now,
    )
    await call.context.stores.corrections.add(document.resource_id, correction)
    return json_response(correction_values(correction))


async def _take_back(call: Call, resource: Resource) -> Response:
    resource_id, correction_id = call.id(resource), call.id("correction", "correction")
    if resource == "bot":
        await call.context.bots.get(resource_id, call.account_id)
    else:
        await call.context.recordings.get(resource_id, call.account_id)
    async with call.context.long_answers.turn(call.account_id):
        await call.context.stores.corrections.remove(resource_id, correction_id)
    return message_response("The correction was taken back.")


def _refuse(faults: Faults) -> None:
    if faults:
        raise InvalidConfig(faults)


def _checked(request: Read[CorrectionFields], document: Written) -> str | None:
    """Return the present text at the place to correct. Raises InvalidConfig if there is no such place, Conflict."""
    segments = document.read.segments  # takes a good part of a second for a transcript of hours
    _check_place(request.fields, segments, document.participants, request.faults)
    _refuse(request.faults)
    if not segments:
        raise Conflict("There is no transcript yet to put right.")
    return _before(request.fields, segments)


def _check_place(
    fields: CorrectionFields, segments: Sequence[Segment], participants: Sequence[Participant], faults: Faults
) -> None:
    """Add a fault if the place to correct does not exist in the transcript."""
    if fields.kind == CorrectionKind.PARTICIPANT:
        names = {segment.speaker_name for segment in segments} | {person.name for person in participants}
        if fields.before is None or fields.before not in names:
            add(faults, "before", "before must be the name of a participant or speaker, as it stands.")
        return
    if fields.segment is None or (segments and fields.segment >= len(segments)):
        add(faults, "segment", f"segment must be the place of a segment, from 0; there are {len(segments)}.")
    elif fields.kind == CorrectionKind.WORD and segments:
        count = sum(len(utterance.words) for utterance in segments[fields.segment].utterances)
        if fields.word is None or fields.word >= count:
            add(faults, "word", f"word must be the place of a word in the segment, from 0; there are {count}.")


def _before(fields: CorrectionFields, segments: Sequence[Segment]) -> str | None:
    if fields.kind == CorrectionKind.PARTICIPANT:
        return fields.before
    assert fields.segment is not None
    segment = segments[fields.segment]
    if fields.kind == CorrectionKind.SPEAKER:
        return segment.speaker_name
    assert fields.word is not None
    word = word_at(segment, fields.word)
    return word.word if word else None
