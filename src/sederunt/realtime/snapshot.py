"""The state of a meeting for a new listener: a fold over the bot's stored events. Pure."""

from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import Any

from sederunt.bus.feeds import FeedEvent
from sederunt.clock import unix_ms
from sederunt.database.bot_view import BotView
from sederunt.model.history import CHAT_MESSAGE

MOST_CHAT = 1000  # messages in a snapshot; people may write any number

# What each event says about a participant's presence. Sites report too little about devices to state anything true.
_PRESENCE: Mapping[str, bool | None] = {
    "participant-tracked": True,
    "participant-left": False,
    "started-speaking": True,
    "stopped-speaking": None,
}
_DEVICES = {"microphone": "unknown", "camera": "unknown", "screenshare": "unknown"}


class Snapshot:
    """The state after a number of a bot's events, in their order."""

    def __init__(self) -> None:
        self.sequence = 0
        self.status: str | None = None  # None before the first change
        self.first_status: str | None = None  # before the first change; None until then
        self._transcripts: dict[object, Mapping[str, Any]] = {}  # by segment
        self._participants: dict[str, Mapping[str, Any]] = {}
        self._chat: deque[Mapping[str, Any]] = deque(maxlen=MOST_CHAT)

    def apply(self, event: FeedEvent) -> None:
        self.sequence = event.sequence
        data: Mapping[str, Any] = event.event.get("data") or {}
        match event.event.get("type"):
            case "ts" | "ts-revised":
                self._transcripts[data.get("segment_id", event.sequence)] = data
            case "chat-message":
                self._chat.append(data)
            case "status-update":
                self.first_status = self.first_status or data.get("old_status")
                self.status = data.get("new_status")
            case str(kind) if kind in _PRESENCE:
                self._see(data, _PRESENCE[kind])

    def has_final(self, segment_id: object) -> bool:
        """Return whether a segment is final, which makes its drafts useless."""
        return segment_id in self._transcripts

    def values(self) -> dict[str, Any]:
        """Return the data of a `connected` message."""
        return {
            "transcripts": list(self._transcripts.values()),
            "participants": list(self._participants.values()),
            "chat_messages": list(self._chat),
            "status": self.status,
        }

    def copy(self) -> "Snapshot":
        """Return an independent copy."""
        other = copy(self)
        other._transcripts = dict(self._transcripts)
        other._participants = dict(self._participants)
        other._chat = self._chat.copy()
        return other

    def _see(self, data: Mapping[str, Any], is_present: bool | None) -> None:
        key = str(data.get("participantId"))
        earlier = self._participants.get(key)
        is_active = earlier["state"]["active"] if earlier and is_present is None else bool(is_present)
        at_ms = data.get("timestamp")
        self._participants[key] = {
            **data,
            "timestamp": earlier["timestamp"] if earlier else at_ms,
            "lastSeenAt": at_ms,
            "state": {"active": is_active, **_DEVICES, **data.get("state", {})},
        }


def final_values(view: BotView) -> dict[str, Any]:
    """Return the data of a `connected` message after the end, from the bot object."""
    return {
        "transcripts": [segment.spoken() for segment in view.transcript.segments],
        "participants": [
            {
                "participantId": person.key,
                "participantName": person.name,
                "timestamp": unix_ms(person.first_seen_at),
                "state": {"active": False, **_DEVICES},
            }
            for person in view.participants
        ],
        "chat_messages": [{"user_avatar": None, **event.data} for event in view.events if event.event == CHAT_MESSAGE],
        "status": view.bot.status.value,
    }
