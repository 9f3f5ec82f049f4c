"""The table of routes: the application serves it, the OpenAPI document describes it, so the two cannot differ."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel
from starlette.responses import Response

from sederunt.api import bots, capacity, recordings
from sederunt.api.call import Call
from sederunt.api.schemas import (
    REQUIRED_FOR_BOTS,
    BotFields,
    CapacityFields,
    ChatFields,
    RecordingFields,
)

Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """What a route takes."""

    model: type[BaseModel]
    required: Sequence[str] = ()
    file_field: str | None = None  # also taken as multipart/form-data, with this field as the file


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One method on one path below the version prefix."""

    method: str
    path: str
    handler: Handler
    name: str  # operationId
    summary: str
    tag: str
    answer: str  # name of the answer's schema
    body: Body | None = None
    query: Sequence[str] = ()  # names of parameters in the document's table
    refusals: Sequence[int] = ()  # statuses beside 200, 401, 429 and those that its body and path bring


_NEW_BOT = Body(model=BotFields, required=REQUIRED_FOR_BOTS)
_FILTERS = ("limit", "cursor")

ROUTES: Sequence[Route] = (
    Route(
        method="POST",
        path="/bot",
        handler=bots.create_bot,
        name="createBot",
        summary="Send a bot into a meeting, now or at a time",
        tag="Bots",
        answer="Bot",
        body=_NEW_BOT,
        refusals=(403,),
    ),
    Route(
        method="GET",
        path="/bot",
        handler=bots.list_bots,
        name="listBots",
        summary="List bots, newest first",
        tag="Bots",
        answer="BotList",
        query=(*_FILTERS, "bot-status", "metadata"),
        refusals=(400,),
    ),
    Route(
        method="POST",
        path="/bot/validate",
        handler=bots.validate_bot,
        name="validateBot",
        summary="Check a configuration without starting anything",
        tag="Bots",
        answer="Message",
        body=_NEW_BOT,
    ),
    Route(
        method="GET",
        path="/bot/scheduled",
        handler=bots.scheduled_bots,
        name="listScheduledBots",
        summary="List scheduled bots, soonest first",
        tag="Bots",
        answer="Bots",
    ),
    Route(
        method="GET",
        path="/bot/{id}",
        handler=bots.get_bot,
        name="getBot",
        summary="A bot with its transcript, participants and events",
        tag="Bots",
        answer="Bot",
        query=("with-speaker-events",),
        refusals=(400,),
    ),
    Route(
        method="PATCH",
        path="/bot/{id}",
        handler=bots.update_bot,
        name="updateBot",
        summary="Change a scheduled bot; fields that are not sent stay",
        tag="Bots",
        answer="Bot",
        body=Body(model=BotFields),
        refusals=(403, 409),
    ),
    Route(
        method="DELETE",
        path="/bot/{id}",
        handler=bots.delete_bot,
        name="deleteBot",
        summary="Delete a bot with its recording and transcript",
        tag="Bots",
        answer="Message",
        refusals=(409,),
    ),
    Route(
        method="POST",
        path="/bot/{id}/stop",
        handler=bots.stop_bot,
        name="stopBot",
        summary="Let a running bot leave its meeting",
        tag="Bots",
        answer="Message",
        refusals=(409,),
    ),
    Route(
        method="POST",
        path="/bot/{id}/chat-message",
        handler=bots.chat,
        name="sendChatMessage",
        summary="Post to the meeting's chat",
        tag="Bots",
        answer="Message",
        body=Body(model=ChatFields, required=("message",)),
        refusals=(409, 503),
    ),
    Route(
        method="GET",
        path="/bot/{id}/pricing",
        handler=capacity.bot_pricing,
        name="getBotPricing",
        summary="What a bot costs by the operator's rates",
        tag="Bots",
        answer="Pricing",
    ),
    Route(
        method="GET",
        path="/reserved-capacity",
        handler=capacity.get_capacity,
        name="getReservedCapacity",
        summary="Bots booked ahead",
        tag="Capacity",
        answer="Capacity",
    ),
    Route(
        method="PUT",
        path="/reserved-capacity",
        handler=capacity.set_capacity,
        name="setReservedCapacity",
        summary="Book bots ahead",
        tag="Capacity",
        answer="Capacity",
        body=Body(model=CapacityFields, required=("count",)),
    ),
    Route(
        method="POST",
        path="/recording",
        handler=recordings.create_recording,
        name="createRecording",
        summary="Transcribe a file, an address, or a bot's recording anew",
        tag="Recordings",
        answer="Recording",
        body=Body(model=RecordingFields, file_field="recording_file"),
    ),
    Route(
        method="GET",
        path="/recording",
        handler=recordings.list_recordings,
        name="listRecordings",
        summary="List recordings, newest first",
        tag="Recordings",
        answer="RecordingList",
        query=(*_FILTERS, "recording-status"),
        refusals=(400,),
    ),
    Route(
        method="GET",
        path="/recording/{id}",
        handler=recordings.get_recording,
        name="getRecording",
        summary="A recording with its transcript and events",
        tag="Recordings",
        answer="Recording",
    ),
    Route(
        method="DELETE",
        path="/recording/{id}",
        handler=recordings.delete_recording,
        name="deleteRecording",
        summary="Delete a recording and its transcript",
        tag="Recordings",
        answer="Message",
        refusals=(409,),
    ),
)
