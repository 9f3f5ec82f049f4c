"""The messages that live listeners hear."""

from datetime import UTC, datetime

from sederunt.claims.changes import PersonLeft, PersonSpoke, PersonTracked, PersonWrote
from sederunt.meetings.live.messages import message_of
from sederunt.model.events import ChatReceived
from sederunt.model.participant import Participant

ADA = Participant(key="spaces/x/devices/1", name="Ada", avatar=None, first_seen_at=datetime(2026, 1, 1, tzinfo=UTC))
PAYLOAD = {"participantId": "spaces/x/devices/1", "participantName": "Ada", "timestamp": 7}


def test_participants_are_told_in_camel_case() -> None:
    assert message_of(PersonTracked(participant=ADA, at_ms=7)) == {"type": "participant-tracked", "data": PAYLOAD}
    assert message_of(PersonLeft(participant=ADA, at_ms=7)) == {"type": "participant-left", "data": PAYLOAD}


def test_speech_has_a_beginning_and_an_end() -> None:
    told = [message_of(PersonSpoke(participant=ADA, speaking=speaking, at_ms=7))["type"] for speaking in (True, False)]
    assert told == ["started-speaking", "stopped-speaking"]


def test_chat_is_told_in_snake_case() -> None:
    message = message_of(PersonWrote(message=ChatReceived(username="Ada", content="hi", at_ms=7)))
    assert message == {"type": "chat-message", "data": {"username": "Ada", "content": "hi", "user_avatar": None}}
