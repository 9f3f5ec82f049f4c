"""What a newcomer is told: a fold over the stored events."""

from typing import Any

from sederunt.bus.feeds import FeedEvent
from sederunt.realtime.snapshot import MOST_CHAT, Snapshot


def folded(*messages: dict[str, Any]) -> Snapshot:
    snapshot = Snapshot()
    for number, message in enumerate(messages, 1):
        snapshot.apply(FeedEvent(sequence=number * 10, event=message))
    return snapshot


def ts(segment: str, transcript: str) -> dict[str, Any]:
    data = {"segment_id": segment, "transcript": transcript, "start": 0.5, "end": 1.5, "speaker": 0}
    return {"type": "ts", "data": data}


def person(kind: str, at_ms: int, key: str = "anna", name: str = "Anna") -> dict[str, Any]:
    return {"type": kind, "data": {"participantId": key, "participantName": name, "timestamp": at_ms}}


def status(old: str, new: str) -> dict[str, Any]:
    return {"type": "status-update", "data": {"old_status": old, "new_status": new}}


def test_a_newcomer_is_told_of_segments_people_chat_and_status() -> None:
    chat = {"type": "chat-message", "data": {"username": "Anna", "content": "hello", "user_avatar": None}}
    snapshot = folded(
        status("joining", "recording"),
        {"type": "start"},
        person("participant-tracked", 5),
        chat,
        ts("a", "Good morning."),
    )
    assert snapshot.sequence == 50
    assert snapshot.values() == {
        "transcripts": [ts("a", "Good morning.")["data"]],
        "participants": [
            {
                "participantId": "anna",
                "participantName": "Anna",
                "timestamp": 5,
                "lastSeenAt": 5,
                "state": {
                    "active": True,
                    "microphone": "unknown",
                    "camera": "unknown",
                    "screenshare": "unknown",
                },
            }
        ],
        "chat_messages": [chat["data"]],
        "status": "recording",
    }


def test_before_the_first_event_nothing_is_known() -> None:
    assert folded().values() == {"transcripts": [], "participants": [], "chat_messages": [], "status": None}


def test_a_segment_that_comes_again_stands_where_it_stood() -> None:
    snapshot = folded(ts("a", "Goat morning."), ts("b", "Hello."), ts("a", "Good morning."))
    assert [segment["transcript"] for segment in snapshot.values()["transcripts"]] == ["Good morning.", "Hello."]
    assert snapshot.has_final("a")
    assert not snapshot.has_final("c")


def test_who_left_is_not_active_until_back_and_keeps_the_first_time() -> None:
    before = [person("participant-tracked", 5), person("participant-left", 9), person("stopped-speaking", 9)]
    (gone,) = folded(*before).values()["participants"]
    assert (gone["state"]["active"], gone["timestamp"], gone["lastSeenAt"]) == (False, 5, 9)
    (back,) = folded(*before, person("participant-tracked", 20, name="Anna B.")).values()["participants"]
    assert (back["state"]["active"], back["timestamp"], back["participantName"]) == (True, 5, "Anna B.")


def test_what_a_copy_learns_its_original_does_not() -> None:
    original = folded(ts("a", "One."), person("participant-tracked", 1))
    copied = original.copy()
    for number, message in enumerate((ts("b", "Two."), person("participant-tracked", 2, "ben", "Ben")), 30):
        copied.apply(FeedEvent(sequence=number, event=message))
    assert (len(original.values()["transcripts"]), len(original.values()["participants"])) == (1, 1)
    assert (len(copied.values()["transcripts"]), len(copied.values()["participants"])) == (2, 2)


def test_a_flood_of_chat_is_kept_to_its_newest_messages() -> None:
    flood = [{"type": "chat-message", "data": {"content": str(n)}} for n in range(MOST_CHAT + 2)]
    kept = folded(*flood).values()["chat_messages"]
    assert (len(kept), kept[0]["content"]) == (MOST_CHAT, "2")
