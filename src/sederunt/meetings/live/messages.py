"""What live listeners hear of a meeting: changes of the scene as messages of the realtime interface."""

from collections.abc import Mapping

from sederunt.meetings.session.roster import Change, PersonLeft, PersonSpoke, PersonTracked, PersonWrote
from sederunt.model.participant import Participant


def message_of(change: Change) -> Mapping[str, object]:
    """The realtime message for one change: {"type": …, "data": {…}}. Names as in the interface notes, section 4.3."""
    match change:
        case PersonTracked():
            return {"type": "participant-tracked", "data": _participant(change.participant, change.at_ms)}
        case PersonLeft():
            return {"type": "participant-left", "data": _participant(change.participant, change.at_ms)}
        case PersonSpoke():
            kind = "started-speaking" if change.speaking else "stopped-speaking"
            return {"type": kind, "data": _participant(change.participant, change.at_ms)}
        case PersonWrote():
            said = change.message
            return {
                "type": "chat-message",
                "data": {"username": said.username, "content": said.content, "user_avatar": said.avatar},
            }


def _participant(participant: Participant, at_ms: int) -> Mapping[str, object]:
    return {"participantId": participant.key, "participantName": participant.name, "timestamp": at_ms}
