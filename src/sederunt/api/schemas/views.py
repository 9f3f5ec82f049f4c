"""The public form of bots, recordings and events: plain values in the interface's order, serialised once.

There are no response models: they would cost more than everything else in a GET together. The OpenAPI document declares
these shapes separately, and a test compares the two.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sederunt.api.schemas.values import address_in
from sederunt.database.bot_view import BotView
from sederunt.database.recordings import RecordingView
from sederunt.model.bot import Bot
from sederunt.model.history import Event
from sederunt.model.participant import Participant
from sederunt.model.recording import Recording
from sederunt.realtime.addresses import socket_addresses
from sederunt.storage.links import Links
from sederunt.transcription.models import has_sockets

# A link to a file without an expiry is valid until the end of the next day: the same all day, so cacheable.
_LINK_FOR = timedelta(days=2)
_SOCKETS = ("websocket_url", "websocket_read_only_url", "websocket_audio_url")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Makes the addresses in answers to one caller."""

    base_url: str
    links: Links
    now: datetime
    holder: bytes = b""  # to whom the sockets' addresses are issued: `Caller.holder`
    may_listen: bool = True  # False: without addresses of sockets, all of which transmit what is said
    may_act: bool = True  # False: without the address of the socket that takes orders
    to_be_kept: bool = False  # without secrets: first answers are stored in the database in plain text

    def link(self, key: str, until: datetime | None) -> str:
        """Return the download address of an object in storage, such as bots/<id>/recording.webm."""
        resource, id_, name = key.split("/", 2)
        end_of_tomorrow = datetime.combine(self.now.date(), datetime.min.time(), UTC) + _LINK_FOR
        return self.links.sign(resource, UUID(id_), name, until or end_of_tomorrow)


def bot_json(view: BotView, addresses: Addresses, *, with_speaker_events: bool = False) -> str:
    """Return one bot with its transcript, events and participants."""
    values = bot_values(view.bot, addresses)
    values["participants"] = [_participant(person, with_speaker_events) for person in view.participants]
    values["events"] = [event_values(event) for event in view.events]
    return _with_transcript(values, view.segments_json)


def recording_json(view: RecordingView, addresses: Addresses) -> str:
    """Return one recording with its transcript and events."""
    values = recording_values(view.recording, addresses)
    values["events"] = [event_values(event) for event in view.events]
    return _with_transcript(values, view.segments_json)


async def list_json(parts: AsyncIterator[Iterable[str]]) -> AsyncIterator[str]:
    """Yield an array of serialised resources."""
    separator = "["
    async for part in parts:
        if text := ", ".join(part):
            yield separator + text
            separator = ", "
    yield "]" if separator == ", " else "[]"


async def data_json(parts: AsyncIterator[Iterable[str]]) -> AsyncIterator[str]:
    """Yield an unpaged list of serialised resources."""
    yield '{"data": '
    async for text in list_json(parts):
        yield text
    yield "}"


async def page_json(parts: AsyncIterator[Iterable[str]], cursor: str | None) -> AsyncIterator[str]:
    """Yield one page of a list of serialised resources."""
    yield '{"data": '
    async for text in list_json(parts):
        yield text
    yield f', "next_cursor": {json.dumps(cursor)}}}'


def bot_values(bot: Bot, addresses: Addresses) -> dict[str, Any]:
    """Return a bot's own fields; transcript, participants and events are empty."""
    config = bot.config
    holder, derive = addresses.holder, addresses.links.derive
    has_socket_addresses = is_realtime(bot) and addresses.may_listen and not addresses.to_be_kept
    sockets = socket_addresses(addresses.base_url, bot, holder, derive) if has_socket_addresses else None
    return {
        "id": str(bot.id),
        "status": bot.status.value,
        "stop_reason": bot.stop_reason.value if bot.stop_reason else None,
        "service": config.service,
        "scheduled_for": moment(bot.scheduled_for),
        "stop_options": {
            "time_limit": config.stop_options.time_limit,
            "waiting_room_timeout": config.stop_options.waiting_room_timeout,
            "last_person_detection": config.stop_options.last_person_detection,
            "silence_detection": config.stop_options.silence_detection,
        },
        "bot_name": config.bot_name,
        "bot_avatar": _avatar(bot, addresses),
        "meeting_url": address_in(config.meeting_url),
        "webhook_url": config.webhook_url,
        "custom_metadata": dict(config.custom_metadata),
        "recording_url": _recording_url(bot.recording_object, bot.recording_available_until, addresses),
        "recording_available_until": moment(bot.recording_available_until),
        "websocket_url": sockets.events if sockets and addresses.may_act else None,
        "websocket_read_only_url": sockets.read_only if sockets else None,
        "websocket_audio_url": sockets.audio if sockets else None,
        "video": config.video,
        "lang": config.lang,
        "detected_lang": bot.detected_lang,
        "transcription_model": config.transcription_model,
        "transcription_fallback": list(config.transcription_fallback or ()),
        "webhook_events": list(config.webhook_events),
        "participants": [],
        "events": [],
        "profanity_filter": config.profanity_filter,
        "custom_vocabulary": list(config.custom_vocabulary),
        "realtime_audio": is_realtime(bot),
        "created_at": moment(bot.created_at),
        "finished_at": moment(bot.finished_at),
        "time_limit": config.stop_options.time_limit,
        "verdict": bot.verdict.value if bot.verdict else None,
        "evidence": {kind: addresses.link(key, None) for kind, key in bot.evidence.items()},
        "recording_gaps": [asdict(gap) for gap in bot.gaps],
        "capture": dict(bot.capture),
    }


def recording_values(recording: Recording, addresses: Addresses) -> dict[str, Any]:
    """Return a recording's own fields; transcript and events are empty."""
    config = recording.config
    until = recording.recording_available_until
    return {
        "id": str(recording.id),
        "status": recording.status.value,
        "webhook_url": config.webhook_url,
        "recording_url": _recording_url(recording.recording_object, until, addresses),
        "recording_available_until": moment(until),
        "lang": config.lang,
        "detected_lang": recording.detected_lang,
        "transcription_model": config.transcription_model,
        "transcription_fallback": list(config.transcription_fallback or ()),
        "events": [],
        "profanity_filter": config.profanity_filter,
        "custom_vocabulary": list(config.custom_vocabulary),
        "created_at": moment(recording.created_at),
        "finished_at": moment(recording.finished_at),
    }


def plain_bot_json(bot: Bot, addresses: Addresses) -> str:
    """Return a bot without history: all fields, but with empty lists."""
    return _with_transcript(bot_values(bot, addresses), "[]")


def with_own_sockets(values: Mapping[str, Any], bot: Bot, addresses: Addresses) -> str:
    """Return the JSON of a bot stored without socket addresses, with those for this caller added."""
    own_values = bot_values(bot, addresses)
    return json.dumps({**values, **{name: own_values[name] for name in _SOCKETS}})


def bot_summary(bot: Bot, addresses: Addresses) -> dict[str, Any]:
    """Return a bot as lists show it: without transcript, participants and events."""
    values = bot_values(bot, addresses)
    return {name: value for name, value in values.items() if name not in ("participants", "events")}


def recording_summary(recording: Recording, addresses: Addresses) -> dict[str, Any]:
    """Return a recording as lists show it: without transcript and events."""
    values = recording_values(recording, addresses)
    return {name: value for name, value in values.items() if name != "events"}


def plain_recording_json(recording: Recording, addresses: Addresses) -> str:
    """Return a recording without transcript and events: all fields, but with empty lists."""
    return _with_transcript(recording_values(recording, addresses), "[]")


def event_values(event: Event) -> dict[str, Any]:
    """Return one event of the history."""
    return {"event": event.event, "data": dict(event.data), "created_at": moment(event.created_at)}


def moment(value: datetime | None) -> str | None:
    """Return RFC 3339 in UTC with microseconds and Z."""
    if value is None:
        return None
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def is_realtime(bot: Bot) -> bool:
    return has_sockets(bot.config.transcription_model, realtime_audio=bot.config.realtime_audio)


def _participant(person: Participant, with_events: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": person.name,
        "avatar": person.avatar,
        "first_seen_at": moment(person.first_seen_at),
    }
    if with_events:
        values["events"] = [{"type": event.type.value, "timestamp": event.timestamp} for event in person.events]
    return values


def _avatar(bot: Bot, addresses: Addresses) -> str | None:
    if bot.config.bot_avatar_object:
        return addresses.link(bot.config.bot_avatar_object, None)
    return bot.config.bot_avatar_url


def _recording_url(key: str | None, until: datetime | None, addresses: Addresses) -> str | None:
    return addresses.link(key, until) if key else None


def _with_transcript(values: Mapping[str, Any], segments_json: str) -> str:
    """Insert the serialised transcript as it is: it may be megabytes, so it is not parsed."""
    return f'{json.dumps(values)[:-1]}, "transcript": {segments_json}}}'
