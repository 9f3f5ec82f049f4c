"""The shapes of answers, as JSON schemas for the OpenAPI document; `views` writes them, a test holds both together."""

from collections.abc import Mapping
from typing import Any

from sederunt.model.bot import Service, Verdict
from sederunt.model.participant import SpeakingKind
from sederunt.model.status import BotStatus, RecordingStatus, StopReason

Schema = dict[str, Any]


def _object(properties: Mapping[str, Schema], *, optional: tuple[str, ...] = (), description: str = "") -> Schema:
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        **({"description": description} if description else {}),
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _words(words: type[BotStatus | RecordingStatus | StopReason | Service | Verdict | SpeakingKind]) -> Schema:
    return {"type": "string", "enum": [word.value for word in words]}


_TEXT: Schema = {"type": "string"}
_URI: Schema = {"type": "string", "format": "uri"}
_TIME: Schema = {"type": "string", "format": "date-time"}
_ID: Schema = {"type": "string", "format": "uuid"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}

_BOT: Mapping[str, Schema] = {
    "id": _ID,
    "status": _words(BotStatus),
    "stop_reason": _or_null(_words(StopReason)),
    "service": _words(Service),
    "scheduled_for": _or_null(_TIME),
    "stop_options": _ref("StopOptions"),
    "bot_name": _TEXT,
    "bot_avatar": _or_null(_URI),
    "meeting_url": _URI,
    "webhook_url": _or_null(_URI),
    "custom_metadata": {"type": "object", "additionalProperties": _TEXT},
    "recording_url": _or_null(_URI),
    "recording_available_until": _or_null(_TIME),
    "websocket_url": _or_null(_URI),
    "websocket_read_only_url": _or_null(_URI),
    "websocket_audio_url": _or_null(_URI),
    "video": _FLAG,
    "lang": _or_null(_TEXT),
    "detected_lang": _or_null(_TEXT),
    "transcription_model": _TEXT,
    "participants": _list(_ref("Participant")),
    "events": _list(_ref("Event")),
    "profanity_filter": _FLAG,
    "custom_vocabulary": _list(_TEXT),
    "realtime_audio": _FLAG,
    "created_at": _TIME,
    "finished_at": _or_null(_TIME),
    "time_limit": {**_or_null(_INTEGER), "deprecated": True},
    "verdict": _or_null(_words(Verdict)),
    "evidence": {"type": "object", "additionalProperties": _URI},
    "recording_gaps": _list(_ref("Gap")),
    "capture": {"type": "object", "description": "Facts: backend, packets, losses."},
    "transcript": _list(_ref("TranscriptSegment")),
}
_RECORDING: Mapping[str, Schema] = {
    "id": _ID,
    "status": _words(RecordingStatus),
    "webhook_url": _or_null(_URI),
    "recording_url": _or_null(_URI),
    "recording_available_until": _or_null(_TIME),
    "lang": _or_null(_TEXT),
    "detected_lang": _or_null(_TEXT),
    "transcription_model": _TEXT,
    "events": _list(_ref("Event")),
    "profanity_filter": _FLAG,
    "custom_vocabulary": _list(_TEXT),
    "created_at": _TIME,
    "finished_at": _or_null(_TIME),
    "transcript": _list(_ref("TranscriptSegment")),
}


def _without(properties: Mapping[str, Schema], *names: str) -> dict[str, Schema]:
    return {name: schema for name, schema in properties.items() if name not in names}


ANSWERS: Mapping[str, Schema] = {
    "Message": _object({"message": _TEXT}),
    "Refusal": _object({"message": _TEXT}, description="`message` says what is wrong, and what to do."),
    "InvalidRequest": _object(
        {"message": _TEXT, "errors": {"type": "object", "additionalProperties": _list(_TEXT)}},
        description="All faults at once, by field; nested fields with dots. `message` is the first.",
    ),
    "StopOptions": _object(
        dict.fromkeys(("time_limit", "waiting_room_timeout", "last_person_detection", "silence_detection"), _INTEGER)
    ),
    "Event": _object({"event": _TEXT, "data": {"type": "object"}, "created_at": _TIME}),
    "SpeakingEvent": _object({"type": _words(SpeakingKind), "timestamp": _INTEGER}),
    "Participant": _object(
        {"name": _TEXT, "avatar": _or_null(_URI), "first_seen_at": _TIME, "events": _list(_ref("SpeakingEvent"))},
        optional=("events",),
    ),
    "Gap": _object({"start": _NUMBER, "end": _NUMBER, "cause": _TEXT}),
    "Word": _object(
        {"word": _TEXT, "start": _NUMBER, "end": _NUMBER, "confidence": _NUMBER, "speaker": _INTEGER},
    ),
    "Utterance": _object(
        {
            "start": _NUMBER,
            "end": _NUMBER,
            "speaker": _INTEGER,
            "confidence": _NUMBER,
            "transcript": _TEXT,
            "words": _list(_ref("Word")),
        }
    ),
    "NameGuess": _object({"name": _TEXT, "confidence": _NUMBER}),
    "TranscriptSegment": _object(
        {
            "start": _NUMBER,
            "end": _NUMBER,
            "speaker": _INTEGER,
            "speaker_name": _or_null(_TEXT),
            "potential_speaker_names": _or_null(_list(_ref("NameGuess"))),
            "confidence": _NUMBER,
            "transcript": _TEXT,
            "utterances": _list(_ref("Utterance")),
        }
    ),
    "Bot": _object(_BOT),
    "Bots": _list(_ref("Bot")),
    "BotSummary": _object(_without(_BOT, "participants", "events", "transcript")),
    "BotList": _object({"data": _list(_ref("BotSummary")), "next_cursor": _or_null(_TEXT)}),
    "Recording": _object(_RECORDING),
    "RecordingSummary": _object(_without(_RECORDING, "events", "transcript")),
    "RecordingList": _object({"data": _list(_ref("RecordingSummary")), "next_cursor": _or_null(_TEXT)}),
    "Pricing": _object(
        {
            "id": _ID,
            "currency": _TEXT,
            "base": _object({"rate_per_hour": _NUMBER}),
            "transcription": _object({"model": _TEXT, "rate_per_hour": _NUMBER, "byok": _FLAG}),
            "addons": _list(_object({"name": _TEXT, "rate_per_hour": _NUMBER})),
            "total": _object({"rate_per_hour": _NUMBER, "amount": _or_null(_NUMBER)}),
        }
    ),
    "Capacity": _object({"reserved": _INTEGER, "available": _INTEGER}),
}
