"""The shapes of `events` and of what webhooks send: one row for each kind of event."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sederunt.api.schemas.answer_parts import (
    ID,
    INTEGER,
    NUMBER,
    TEXT,
    TIME,
    Schema,
    just,
    list_of,
    object_of,
    one_of,
    ref,
    words_of,
)
from sederunt.database.delivery_lists import TEST
from sederunt.jobs.seating import Lack
from sederunt.model import history as h
from sederunt.model.bot import PLANNED_MOVE
from sederunt.model.status import BotStatus, RecordingStatus, StopReason
from sederunt.model.trouble import Recovery


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRow:
    """One kind of event: when it occurs, and its data. `of` names the resources that have it."""

    told: str
    data: Mapping[str, Schema]
    optional: tuple[str, ...] = ()
    of: tuple[str, ...] = ("bot",)


_BOTH = ("bot", "recording")
_STATUS: Schema = {"type": "string", "enum": [*dict.fromkeys(word.value for word in (*BotStatus, *RecordingStatus))]}


def _told(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


_SECOND = _told(NUMBER, "A second of the recording.")
_REASON_TO_WAIT = _told(words_of(Lack), "What there is too little of.")
_DOUBT = object_of({"start": _SECOND, "end": _SECOND, "why": TEXT})
_WHY: Mapping[str, Schema] = {
    "stop_reason": _told(words_of(StopReason), "With an ending that has one."),
    "cause": _told(
        TEXT, "More than the stop reason says, in one word: `time_limit`, `meeting_full`, `fetch_failed`, …"
    ),
    "evidence": _told(TEXT, "The row of docs/evidence.md that decided."),
    "seen": _told(TEXT, "What was seen when something of ours failed."),
    "message": _told(TEXT, "Why there is no transcript, in a sentence."),
    "attempt": _told(INTEGER, "With `bot_detected`: how many times the bot has tried."),
    "budget": _told(TEXT, "The limit of docs/limits.md that is spent."),
    "reason": _REASON_TO_WAIT,
    "waited_s": _told(NUMBER, "Seconds for which the bot waited for a host in vain."),
    "transcribed_by": _told(TEXT, "The model, where it is another than was asked for."),
    "transcript_doubts": _told(list_of(_DOUBT), "Stretches that may lack words."),
}

EVENTS: Mapping[str, EventRow] = {
    h.STATUS_UPDATE: EventRow(
        told="The status changed; with an ending, why.",
        data={"old_status": _STATUS, "new_status": _STATUS, **_WHY},
        optional=tuple(_WHY),
        of=_BOTH,
    ),
    h.CHAT_MESSAGE: EventRow(
        told="Something was written in the meeting's chat, by the bot too.",
        data={"username": _told(TEXT, "Who wrote it, as the meeting names them."), "content": TEXT},
    ),
    h.RECORDING_GAP: EventRow(
        told="The bot was away, and nothing was recorded.",
        data={
            "start": _SECOND,
            "end": _SECOND,
            "cause": _told(TEXT, "`host_lost`, `planned_move`, or a page's trouble."),
        },
    ),
    h.LIVE_TROUBLE: EventRow(
        told="Live transcription may have missed something; the transcript is made again after the meeting.",
        data={"message": _told(TEXT, "What went wrong.")},
    ),
    h.PAGE_TROUBLE: EventRow(
        told="Something befell the bot's page, or what it needs.",
        data={
            "cause": _told(TEXT, "In one word: `connection_lost`, `renderer_stopped`, …"),
            "seen": _told(TEXT, "By what it was noticed."),
            "recovery": _told(words_of(Recovery), "What is done about it."),
        },
    ),
    h.WAITING_FOR_CAPACITY: EventRow(
        told="The bot has to wait for a host. It comes again when its place has halved.",
        data={
            "place": _told(INTEGER, "Its place in the line, from 1."),
            "waiting": _told(INTEGER, "How many are in the line."),
            "reason": _REASON_TO_WAIT,
        },
    ),
    h.OVERBOOKED: EventRow(
        told="When it was scheduled, all seats were booked for that time.",
        data={
            "booked": _told(INTEGER, "Seats that others have booked for that time."),
            "limit": _told(INTEGER, "Seats that there are."),
            "reason": _REASON_TO_WAIT,
        },
    ),
    h.BUDGET_SPENT: EventRow(
        told="A limit is reached: what comes beyond it is left out.",
        data={"budget": _told(TEXT, "Its name in docs/limits.md."), "limit": NUMBER},
    ),
    PLANNED_MOVE: EventRow(
        told="Another host took the bot over while it sat in its meeting.",
        data={"at": _SECOND, "cause": _told(TEXT, "`planned_move`.")},
    ),
    h.TRANSCRIPTION_FALLBACK: EventRow(
        told="A model failed for good, and the next one of `transcription_fallback` began.",
        data={"model": TEXT, "next_model": TEXT, "message": _told(TEXT, "Why it failed.")},
        of=_BOTH,
    ),
    h.TRANSCRIPTION_PROGRESS: EventRow(
        told="A part of a long recording is transcribed.",
        data={"seconds_done": NUMBER, "seconds": _told(NUMBER, "How long the recording is.")},
        of=("recording",),
    ),
}
# The events that webhooks send, by resource.
IN_WEBHOOKS: Mapping[str, Sequence[str]] = {
    "bot": (h.STATUS_UPDATE, *h.TOLD_WHEN_ASKED),
    "recording": (h.STATUS_UPDATE,),
}


def event_schemas() -> Iterator[tuple[str, Schema]]:
    """Yield (name, schema) for events, for each kind's data, and for webhook bodies."""
    yield (
        "Event",
        {
            **object_of({"event": TEXT, "data": {"type": "object"}, "created_at": TIME}),
            **one_of("event", {kind: f"{_title(kind)}Event" for kind in EVENTS}),
        },
    )
    for kind, row in EVENTS.items():
        yield f"{_title(kind)}Data", object_of(row.data, optional=row.optional)
        shape = {"event": just(kind), "data": ref(f"{_title(kind)}Data"), "created_at": TIME}
        yield f"{_title(kind)}Event", object_of(shape, description=row.told)
    for owner, kinds in IN_WEBHOOKS.items():
        bodies = {kind: f"{_title(owner)}{_title(kind)}Webhook" for kind in kinds}
        yield f"{_title(owner)}Webhook", one_of("type", bodies)
        for kind, name in bodies.items():
            yield name, _body(owner, kind, ref(f"{_title(kind)}Data"), EVENTS[kind].told)
    yield "TestWebhook", _body("bot", TEST, object_of({"message": TEXT}), "What POST /webhook/test sends.")


def webhook_operations() -> dict[str, Schema]:
    """Return the section `webhooks` of the OpenAPI document: requests to receivers, and their answers."""
    bodies = {"bot": ref("BotWebhook"), "recording": ref("RecordingWebhook"), TEST: ref("TestWebhook")}
    return {name: {"post": _operation(name, body)} for name, body in bodies.items()}


def _operation(name: str, body: Schema) -> Schema:
    return {
        "operationId": f"receive{_title(name)}Webhook",
        "summary": f"Sent to `webhook_url`: {'a try' if name == TEST else f'what happened to a {name}'}",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"2XX": {"description": "Taken. Any other answer, or none, is tried again for a day."}},
    }


def _body(owner: str, kind: str, data: Schema, description: str) -> Schema:
    shape = {
        f"{owner}_id": ID,
        "type": just(kind),
        "data": data,
        "custom_metadata": {"type": "object", "additionalProperties": TEXT},
    }
    return object_of(shape, description=description)


def _title(kind: str) -> str:
    return kind.title().replace("_", "")
