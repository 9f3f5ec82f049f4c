"""Two transcripts side by side: their differences, and the distance of each from a reference."""

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from sederunt.api.call import Call
from sederunt.api.schemas import values as v
from sederunt.api.schemas.faults import read
from sederunt.api.schemas.requests import Body
from sederunt.database.bot_view import BotView
from sederunt.database.outbox import Resource
from sederunt.database.recordings import RecordingView
from sederunt.errors import InvalidConfig, NotFound
from sederunt.model.transcript import Transcript
from sederunt.transcripts.comparison import (
    ComparedPassage,
    SpokenWord,
    TooLong,
    error_rate,
    keys_of,
    side_by_side,
    words_of,
)

LONGEST_REFERENCE = 1_000_000  # characters: more than a day of speech


class ComparisonFields(Body):
    """Two transcripts to compare."""

    REQUIRED = ("first", "second")

    first: v.Id | None = Field(None, description="The id of a bot or a recording.")
    second: v.Id | None = Field(None, description="The id of another one, mostly of the same sound.")
    reference: Annotated[str, *v.text(LONGEST_REFERENCE)] | None = Field(
        None, description="What was really said, as plain text: each transcript gets its word error rate."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedTranscript:
    """One of the two transcripts."""

    resource: Resource
    resource_id: UUID
    model: str
    heard: Transcript


async def compare_transcripts(call: Call) -> Response:
    """Answer POST /comparison"""
    body = await call.body()
    async with call.context.long_answers.turn(call.account_id):
        return await _compared(call, body)


async def _compared(call: Call, body: object) -> Response:
    request = read(ComparisonFields, body)
    fields, faults = request.fields, request.faults
    transcripts: list[ComparedTranscript] = []
    for name in ("first", "second"):
        resource_id: UUID | None = getattr(fields, name)
        try:
            if resource_id is not None:
                transcripts.append(await compared_transcript(call, resource_id))
        except NotFound:
            faults.setdefault(name, [f"{name} is not the id of one of your bots or recordings."])
    if faults:
        raise InvalidConfig(faults)
    first, second = transcripts
    try:  # a long comparison takes some seconds of a core
        text = await asyncio.to_thread(_json, first, second, fields.reference)
    except TooLong:
        sentence = (
            "reference differs too much from these transcripts, for their length: expected what was said in them."
        )
        raise InvalidConfig({"reference": [sentence]}) from None
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})


async def compared_transcript(call: Call, resource_id: UUID) -> ComparedTranscript:
    """Return the uncorrected transcript of one of the caller's bots or recordings. Raises NotFound."""
    view: BotView | RecordingView
    resource: Resource
    try:
        view = await call.context.bots.view(resource_id, call.account_id)
        resource, model = "bot", view.bot.config.transcription_model
    except NotFound:
        view = await call.context.recordings.view(resource_id, call.account_id)
        resource, model = "recording", view.recording.config.transcription_model
    transcript = await asyncio.to_thread(lambda: view.transcript)
    return ComparedTranscript(resource=resource, resource_id=resource_id, model=model, heard=transcript)


def _json(first: ComparedTranscript, second: ComparedTranscript, reference: str | None) -> str:
    first_words, second_words = words_of(first.heard), words_of(second.heard)
    expected = keys_of(reference or "")
    values = {
        "first": _side(first, first_words, expected),
        "second": _side(second, second_words, expected),
        "reference_words": len(expected) or None,
        "rows": [
            {
                "start": round(row.start, 2),
                "end": round(row.end, 2),
                "first": [_passage(passage) for passage in row.first],
                "second": [_passage(passage) for passage in row.second],
            }
            for row in side_by_side(first_words, second_words)
        ],
    }
    return json.dumps(values)


def _side(transcript: ComparedTranscript, words: list[SpokenWord], expected: list[str]) -> dict[str, Any]:
    rate = error_rate(expected, [word.key for word in words])
    return {
        "resource": transcript.resource,
        "id": str(transcript.resource_id),
        "transcription_model": transcript.model,
        "detected_lang": transcript.heard.detected_lang,
        "words": len(words),
        "word_error_rate": None if rate is None else round(rate, 4),
    }


def _passage(passage: ComparedPassage) -> dict[str, Any]:
    return {"text": passage.text, "same": passage.same, "speaker_name": passage.speaker}
