"""Messages of the realtime interface: changes of the roster and lines of the transcript."""

from collections.abc import Mapping
from uuid import UUID

from sederunt.claims.changes import Change, PersonLeft, PersonSpoke, PersonTracked, PersonWrote
from sederunt.model.participant import Participant
from sederunt.model.transcript import LiveLine

Message = Mapping[str, object]  # {"type": …, "data": {…}}


def message_of(change: Change) -> Message:
    """Return the realtime message for one change of the roster."""
    match change:
        case PersonTracked():
            return {"type": "participant-tracked", "data": _participant(change.participant, change.at_ms)}
        case PersonLeft():
            return {"type": "participant-left", "data": _participant(change.participant, change.at_ms)}
        case PersonSpoke():
            kind = "started-speaking" if change.speaking else "stopped-speaking"
            return {"type": kind, "data": _participant(change.participant, change.at_ms)}
        case PersonWrote():
            message = change.message
            return {
                "type": "chat-message",
                "data": {"username": message.username, "content": message.content, "user_avatar": message.avatar},
            }


def line_message(line: LiveLine) -> Message:
    """Return the message for a line. A revised line has its own message type, for clients that append."""
    return {
        "type": "ts-revised" if line.revision else "ts",
        "data": {"segment_id": line.segment_id, **line.segment.spoken()},
    }


def line_message_id(bot_id: UUID, line: LiveLine) -> str:
    """Return the id of a line's message, which is the same each time that a revision is published."""
    return f"ts-{bot_id}-{line.segment_id}-{line.revision}"


def _participant(participant: Participant, at_ms: int) -> Message:
    return {"participantId": participant.key, "participantName": participant.name, "timestamp": at_ms}
