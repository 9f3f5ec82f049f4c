"""The shapes of answers, as JSON schemas for the OpenAPI document; a test compares them with `views`."""

from collections.abc import Mapping

from sederunt.api.schemas.account_answers import ACCOUNT_ANSWERS
from sederunt.api.schemas.answer_parts import (
    FLAG,
    ID,
    INTEGER,
    NUMBER,
    TEXT,
    TIME,
    URI,
    Schema,
    list_of,
    object_of,
    or_null,
    ref,
    words_of,
)
from sederunt.api.schemas.event_answers import event_schemas
from sederunt.model.bot import Verdict
from sederunt.model.participant import SpeakingKind
from sederunt.model.status import BotStatus, RecordingStatus, StopReason
from sederunt.platforms.registry import services

_BOT: Mapping[str, Schema] = {
    "id": ID,
    "status": words_of(BotStatus),
    "stop_reason": or_null(words_of(StopReason)),
    "service": {"type": "string", "enum": list(services())},
    "scheduled_for": or_null(TIME),
    "stop_options": ref("StopOptions"),
    "bot_name": TEXT,
    "bot_avatar": or_null(URI),
    "meeting_url": URI,
    "webhook_url": or_null(URI),
    "custom_metadata": {"type": "object", "additionalProperties": TEXT},
    "recording_url": or_null(URI),
    "recording_available_until": or_null(TIME),
    "websocket_url": or_null(URI),
    "websocket_read_only_url": or_null(URI),
    "websocket_audio_url": or_null(URI),
    "video": FLAG,
    "lang": or_null(TEXT),
    "detected_lang": or_null(TEXT),
    "transcription_model": TEXT,
    "transcription_fallback": list_of(TEXT),
    "webhook_events": list_of(TEXT),
    "participants": list_of(ref("Participant")),
    "events": list_of(ref("Event")),
    "profanity_filter": FLAG,
    "custom_vocabulary": list_of(TEXT),
    "realtime_audio": FLAG,
    "created_at": TIME,
    "finished_at": or_null(TIME),
    "time_limit": {**or_null(INTEGER), "deprecated": True},
    "verdict": or_null(words_of(Verdict)),
    "evidence": {"type": "object", "additionalProperties": URI},
    "recording_gaps": list_of(ref("Gap")),
    "capture": {"type": "object", "description": "Facts: backend, packets, losses."},
    "transcript": list_of(ref("TranscriptSegment")),
}
_RECORDING: Mapping[str, Schema] = {
    "id": ID,
    "status": words_of(RecordingStatus),
    "webhook_url": or_null(URI),
    "recording_url": or_null(URI),
    "recording_available_until": or_null(TIME),
    "lang": or_null(TEXT),
    "detected_lang": or_null(TEXT),
    "transcription_model": TEXT,
    "transcription_fallback": list_of(TEXT),
    "events": list_of(ref("Event")),
    "profanity_filter": FLAG,
    "custom_vocabulary": list_of(TEXT),
    "created_at": TIME,
    "finished_at": or_null(TIME),
    "transcript": list_of(ref("TranscriptSegment")),
}


def _without(properties: Mapping[str, Schema], *names: str) -> dict[str, Schema]:
    return {name: schema for name, schema in properties.items() if name not in names}


ANSWERS: Mapping[str, Schema] = {
    "Message": object_of({"message": TEXT}),
    "Refusal": object_of(
        {"message": TEXT, "budget": TEXT},
        optional=("budget",),
        description="`message` says what is wrong, and what to do; `budget` names the limit that is spent, if one is.",
    ),
    "InvalidRequest": object_of(
        {"message": TEXT, "errors": {"type": "object", "additionalProperties": list_of(TEXT)}},
        description="All faults at once, by field; nested fields with dots. `message` is the first.",
    ),
    "StopOptions": object_of(
        dict.fromkeys(("time_limit", "waiting_room_timeout", "last_person_detection", "silence_detection"), INTEGER)
    ),
    **dict(event_schemas()),
    "SpeakingEvent": object_of({"type": words_of(SpeakingKind), "timestamp": INTEGER}),
    "Participant": object_of(
        {"name": TEXT, "avatar": or_null(URI), "first_seen_at": TIME, "events": list_of(ref("SpeakingEvent"))},
        optional=("events",),
    ),
    "Gap": object_of({"start": NUMBER, "end": NUMBER, "cause": TEXT}),
    "Word": object_of(
        {"word": TEXT, "start": NUMBER, "end": NUMBER, "confidence": NUMBER, "speaker": INTEGER},
    ),
    "Utterance": object_of(
        {
            "start": NUMBER,
            "end": NUMBER,
            "speaker": INTEGER,
            "confidence": NUMBER,
            "transcript": TEXT,
            "words": list_of(ref("Word")),
            "lang": TEXT,
        },
        optional=("lang",),
    ),
    "NameGuess": object_of({"name": TEXT, "confidence": NUMBER}),
    "TranscriptSegment": object_of(
        {
            "start": NUMBER,
            "end": NUMBER,
            "speaker": INTEGER,
            "speaker_name": or_null(TEXT),
            "potential_speaker_names": or_null(list_of(ref("NameGuess"))),
            "confidence": NUMBER,
            "transcript": TEXT,
            "utterances": list_of(ref("Utterance")),
        }
    ),
    "Bot": object_of(_BOT),
    "Bots": list_of(ref("Bot")),
    "BotSummary": object_of(_without(_BOT, "participants", "events", "transcript")),
    "BotList": object_of({"data": list_of(ref("BotSummary")), "next_cursor": or_null(TEXT)}),
    "Recording": object_of(_RECORDING),
    "RecordingSummary": object_of(_without(_RECORDING, "events", "transcript")),
    "RecordingList": object_of({"data": list_of(ref("RecordingSummary")), "next_cursor": or_null(TEXT)}),
    "Track": object_of(
        {
            "source": TEXT,
            "speaker_name": or_null(TEXT),
            "start": NUMBER,
            "end": NUMBER,
            "heard_s": NUMBER,
            "track_url": URI,
        }
    ),
    "TrackList": object_of({"data": list_of(ref("Track"))}),
    "Pricing": object_of(
        {
            "id": ID,
            "currency": TEXT,
            "base": object_of({"rate_per_hour": NUMBER}),
            "transcription": object_of({"model": TEXT, "rate_per_hour": NUMBER, "byok": FLAG}),
            "addons": list_of(object_of({"name": TEXT, "rate_per_hour": NUMBER})),
            "total": object_of({"rate_per_hour": NUMBER, "amount": or_null(NUMBER)}),
        }
    ),
    "ModelPrice": object_of(
        {
            "model": TEXT,
            "aliases": list_of(TEXT),
            "provider": or_null(TEXT),
            "realtime": FLAG,
            "vendor_model": or_null(TEXT),
            "vendor_model_end_of_life": or_null(TEXT),
            "rate_per_hour": NUMBER,
            "vendor_usd_per_hour": or_null(NUMBER),
            "vendor_price_as_of": or_null(TEXT),
            "vendor_price_note": or_null(TEXT),
        }
    ),
    "Prices": object_of({"currency": TEXT, "base_per_hour": NUMBER, "data": list_of(ref("ModelPrice"))}),
    "MeetingEvent": object_of({"type": TEXT, "seq": INTEGER, "data": {"type": "object"}}, optional=("data",)),
    "MeetingEvents": object_of({"data": list_of(ref("MeetingEvent")), "next": INTEGER, "ended": FLAG}),
    "Capacity": object_of({"reserved": INTEGER, "available": INTEGER}),
    **ACCOUNT_ANSWERS,
}
