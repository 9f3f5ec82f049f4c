"""Google Meet's own messages become events, each fact once."""

import base64
import gzip
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.events import (
    ChatReceived,
    ParticipantLeft,
    ParticipantSeen,
    Removed,
    SourceNamed,
    SpeakingChanged,
)
from sederunt.platforms.gmeet.decode import MeetDecoder

ADA, GRACE, OWN = "spaces/x/devices/1", "spaces/x/devices/2", "spaces/x/devices/9"
SYNC = "https://meet.google.com/$rpc/google.rtc.meetings.v1.MeetingSpaceService/SyncMeetingSpaceCollections"
MADE = "https://meet.google.com/$rpc/google.rtc.meetings.v1.MeetingDeviceService/CreateMeetingDevice"

Make = Callable[..., Any]


@pytest.fixture
def user(proto: Make) -> Make:
    def make(key: str, name: str, status: int = 1, **more: Any) -> Any:
        own, parent, avatar = more.get("own"), more.get("parent"), more.get("avatar")
        return proto((1, key), (2, name), (3, avatar), (4, status), (7, own), (21, parent), (29, name))

    return make


def test_the_sync_answer_tells_who_is_here(proto: Make, user: Make, signal: Make) -> None:
    people = proto((2, user(ADA, "Ada Lovelace", avatar="https://a/1")), (2, user(OWN, "Sederunt", own="t")))
    body = base64.b64encode(proto((2, proto((2, people)))))
    events = MeetDecoder().decode(signal("fetch", url=SYNC, payload=body))
    assert events == [
        ParticipantSeen(key=ADA, name="Ada Lovelace", avatar="https://a/1", at_ms=1_000),
        ParticipantSeen(key=OWN, name="Sederunt", is_self=True, at_ms=1_000),
    ]


@pytest.mark.parametrize("packed", [gzip.compress, None, lambda raw: raw])
def test_the_channel_tells_the_same_whatever_its_compression(
    collections: Make, user: Make, packed: Callable[[bytes], bytes] | None
) -> None:
    made = {"packed": packed} if packed else {}
    events = MeetDecoder().decode(collections(users=[user(ADA, "Ada")], **made))
    assert events == [ParticipantSeen(key=ADA, name="Ada", at_ms=1_000)]


def test_what_is_known_is_not_told_again(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")]))
    assert decoder.decode(collections(users=[user(ADA, "Ada")])) == []
    renamed = decoder.decode(collections(users=[user(ADA, "Ada King")], at_ms=2_000))
    assert renamed == [ParticipantSeen(key=ADA, name="Ada King", at_ms=2_000)]


def test_a_status_of_six_is_a_leave(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")]))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], at_ms=5)) == [ParticipantLeft(key=ADA, at_ms=5)]


def test_a_status_of_seven_of_oneself_is_a_removal_and_of_another_a_leave(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada"), user(OWN, "Bot", own="t")]))
    assert Removed(at_ms=7) not in decoder.decode(collections(users=[user(ADA, "Ada", 7)], at_ms=7))
    assert Removed(at_ms=8) in decoder.decode(collections(users=[user(OWN, "Bot", 7, own="t")], at_ms=8))
    assert "self_status:7" in decoder.noted


def test_a_shared_screen_is_nobody(collections: Make, user: Make, proto: Make) -> None:
    share = user(f"{ADA}/share", "Ada", parent=ADA)
    sound = proto((2, 1), (4, "77"), (6, f"{ADA}/share"))
    events = MeetDecoder().decode(collections(users=[user(ADA, "Ada"), share], devices=[sound]))
    assert events == [ParticipantSeen(key=ADA, name="Ada", at_ms=1_000)]


def test_sound_gets_its_owner_once_and_video_none(collections: Make, proto: Make) -> None:
    decoder = MeetDecoder()
    sound, picture = proto((2, 1), (4, "1001"), (6, ADA)), proto((2, 2), (4, "video-3"), (6, ADA))
    events = decoder.decode(collections(devices=[sound, picture]))
    assert events == [SourceNamed(source="1001", key=ADA, at_ms=1_000)]
    assert decoder.decode(collections(devices=[sound])) == []


def test_chat_carries_its_sender_and_its_own_time(collections: Make, user: Make, proto: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada", avatar="https://a/1")]))
    chat = proto((1, "spaces/x/messages/1"), (2, ADA), (3, 1_760_000_000_123_456), (5, proto((1, "Good morning"))))
    expected = ChatReceived(
        username="Ada",
        content="Good morning",
        at_ms=1_760_000_000_123,
        message_id="spaces/x/messages/1",
        avatar="https://a/1",
    )
    assert decoder.decode(collections(chats=[chat])) == [expected]
    assert decoder.decode(collections(chats=[chat])) == []


def test_a_message_told_by_network_and_page_is_told_once(
    collections: Make, user: Make, proto: Make, signal: Make
) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")]))
    chat = proto((1, "n-1"), (2, ADA), (5, proto((1, "Twice?"))))
    shown = signal("chat", id="d-1", sender="Ada", text="Twice?")
    assert len(decoder.decode(collections(chats=[chat]))) == 1
    assert decoder.decode(shown) == []
    again = signal("chat", id="d-2", sender="Ada", text="Twice?")
    assert len(decoder.decode(again)) == 1


def test_the_page_is_believed_until_the_network_speaks(collections: Make, user: Make, signal: Make) -> None:
    decoder = MeetDecoder()
    page = signal("roster", people=[{"key": "", "name": "Ada", "avatar": None, "is_self": False}])
    assert decoder.decode(page) == [ParticipantSeen(key="Ada", name="Ada", at_ms=1_000)]
    assert not decoder.roster_heard
    events = decoder.decode(collections(users=[user(ADA, "Ada"), user(GRACE, "Grace")]))
    assert events[0] == ParticipantSeen(key=ADA, name="Ada", at_ms=1_000, known_as="Ada")
    assert [e.key for e in events if isinstance(e, ParticipantSeen)] == [ADA, GRACE]
    assert decoder.roster_heard
    assert decoder.decode(page) == []


def test_a_row_that_vanishes_from_the_page_has_left_and_an_empty_list_is_a_closed_panel(signal: Make) -> None:
    decoder = MeetDecoder()
    ada, bot = {"key": ADA, "name": "Ada"}, {"key": OWN, "name": "Sederunt (You)"}
    seen = decoder.decode(signal("roster", people=[ada, bot]))
    assert ParticipantSeen(key=OWN, name="Sederunt", is_self=True, at_ms=1_000) in seen
    assert decoder.decode(signal("roster", people=[])) == []
    assert decoder.decode(signal("roster", people=[bot])) == [ParticipantLeft(key=ADA, at_ms=1_000)]


def test_speaking_marks_of_the_page_become_changes(signal: Make) -> None:
    decoder = MeetDecoder()
    assert decoder.decode(signal("speaking", keys=[ADA])) == [SpeakingChanged(key=ADA, speaking=True, at_ms=1_000)]
    assert decoder.decode(signal("speaking", keys=[ADA])) == []
    assert decoder.decode(signal("speaking", keys=[])) == [SpeakingChanged(key=ADA, speaking=False, at_ms=1_000)]


def test_the_newer_media_stack_tells_who_speaks_by_its_snapshots(proto: Make, signal: Make) -> None:
    decoder = MeetDecoder()

    def snapshot(speaking: bool) -> Any:
        state = proto((1, 1), (2, 1 if speaking else None))
        inner = proto((2, proto((2, proto((4, ADA), (8, 77), (9, state))))))
        return signal("datachannel", label="dcrpc", payload=proto((2, gzip.compress(inner))))

    assert decoder.decode(snapshot(True)) == [SpeakingChanged(key=ADA, speaking=True, at_ms=1_000)]
    assert decoder.decode(snapshot(False)) == [SpeakingChanged(key=ADA, speaking=False, at_ms=1_000)]
    assert decoder.decode(signal("speaking", keys=[ADA])) == []


def test_the_suspicion_mark_is_noted_and_changes_nothing(proto: Make, signal: Make) -> None:
    decoder = MeetDecoder()
    clean = base64.b64encode(proto((1, proto((1, OWN)))))
    marked = base64.b64encode(proto((1, proto((1, OWN))), (36, 1)))
    assert decoder.decode(signal("fetch", url=MADE, payload=clean)) == []
    assert "suspected_bot" not in decoder.noted
    assert decoder.decode(signal("fetch", url=MADE, payload=marked)) == []
    assert "suspected_bot" in decoder.noted


@given(payload=st.binary(max_size=300), label=st.sampled_from(["collections", "dcrpc", "captions"]))
def test_no_bytes_break_the_decoder(payload: bytes, label: str) -> None:
    from types import SimpleNamespace

    for data in ({"label": label, "payload": payload}, {"url": SYNC, "payload": payload}):
        kind = "fetch" if "url" in data else "datachannel"
        MeetDecoder().decode(SimpleNamespace(kind=kind, data=data, at_ms=0))  # type: ignore[arg-type]
