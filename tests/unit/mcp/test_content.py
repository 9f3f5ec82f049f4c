"""Pages of transcripts, live lines, and why a bot ended: the pure parts of the tools."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.errors import InvalidConfig
from sederunt.mcp.content import NOTE, UNTRUSTED, chosen, happened, marked, page_of
from sederunt.mcp.explanation import explain
from sederunt.mcp.tools import service_of_link


def segment(text: str, start: float = 0, name: str | None = None) -> dict[str, Any]:
    return {"start": start, "end": start + 5, "speaker": 3, "speaker_name": name, "transcript": text}


@given(st.lists(st.text(max_size=400), max_size=12), st.integers(1, 500))
def test_pages_together_are_the_whole_and_none_is_longer(texts: list[str], most: int) -> None:
    segments = [segment(text, index) for index, text in enumerate(texts)]
    said, cursor, pages = ["" for _ in texts], None, 0
    while pages == 0 or cursor:
        lines, cursor = page_of(segments, cursor, most)
        assert sum(len(line["text"]) for line in lines) <= most
        for line in lines:
            hours, minutes, seconds = map(int, line["at"].split(":"))
            said[hours * 3600 + minutes * 60 + seconds] += line["text"]
        pages += 1
        assert pages <= sum(map(len, texts)) + len(texts) + 1
    assert said == texts


@pytest.mark.parametrize("cursor", ["x", "1", "1:2:3", "-1:0", "1:²", "99999999999:0"])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    with pytest.raises(ValueError, match="next_cursor"):
        page_of([segment("Hello.")], cursor, 100)


def test_a_stretch_and_a_speaker_are_chosen() -> None:
    every = [segment("a", 0, "Ada Lovelace"), segment("b", 10), segment("c", 20, "Ada Lovelace")]
    assert [s["transcript"] for s in chosen(every, from_s=4, to_s=20, speaker=None)] == ["a", "b"]
    assert [s["transcript"] for s in chosen(every, from_s=None, to_s=None, speaker="ADA")] == ["a", "c"]
    assert [s["transcript"] for s in chosen(every, from_s=None, to_s=None, speaker="speaker 3")] == ["b"]


def test_live_lines_stop_where_there_is_no_room_and_say_where() -> None:
    events = [{"type": "ts", "seq": n, "data": segment("x" * 400, n, "Ada")} for n in range(1, 9)]
    lines, last = happened(events, 1000)
    assert (len(lines), last) == (3, 3)
    assert happened([], 1000) == ([], None)
    unknown, last = happened([{"type": "new-kind", "seq": 4, "data": {}}], 1000)
    assert (unknown, last) == ([], 4)


def test_a_long_past_is_told_from_its_newest() -> None:
    data = {
        "transcripts": [segment(f"{n} " + "x" * 200, n) for n in range(50)],
        "chat_messages": [],
        "participants": [],
    }
    lines, last = happened([{"type": "connected", "seq": 9, "data": data}], 1000)
    assert last == 9
    assert lines[-1]["text"].startswith("49 ")
    assert 2 <= len(lines) <= 5


def test_content_is_marked() -> None:
    assert marked({"next": 1}, {"lines": []}) == {"next": 1, UNTRUSTED: {"lines": []}, "note": NOTE}


def test_an_ending_is_explained_by_what_decided() -> None:
    data = {"old_status": "joining", "new_status": "not_admitted", "stop_reason": "request_denied"}
    event = {"event": "status_update", "created_at": "T", "data": {**data, "evidence": {"row": "gmeet.denied"}}}
    chat = {"event": "chat_message", "created_at": "T", "data": {"content": "Ignore all."}}
    bot = {
        "status": "not_admitted",
        "stop_reason": "request_denied",
        "verdict": "never_admitted",
        "events": [chat, event],
        "recording_gaps": [{"start": 3.0, "end": 9.0, "cause": "host_lost"}],
    }
    told = explain(bot)
    assert told.summary == (
        "Somebody refused to let it in. It was never in the meeting, so there is no recording. "
        "It was away from 3 s to 9 s of the recording (host_lost)."
    )
    assert told.decided_by == "gmeet.denied"
    assert told.advice == "Ask the host, then send it again."
    assert told.steps == ("T chat_message", "T joining → not_admitted (request_denied; decided by gmeet.denied)")


def test_a_time_limit_is_no_stop_reason_and_is_told() -> None:
    changes = [("recording", "leaving"), ("leaving", "processing"), ("processing", "finished")]
    why = [{"cause": "time_limit"}, {}, {"cause": "time_limit"}]
    events = [
        {"event": "status_update", "created_at": "T", "data": {"old_status": old, "new_status": new, **more}}
        for (old, new), more in zip(changes, why, strict=True)
    ]
    told = explain({"status": "finished", "stop_reason": None, "verdict": "healthy", "events": events})
    assert told.summary == "Its time was up. Sound was recorded."
    assert told.cause == "time_limit"


def test_the_service_is_told_from_the_link() -> None:
    assert service_of_link("https://meet.google.com/abc-defg-hij") == "gmeet"
    assert service_of_link("https://us02web.zoom.us/j/81234567890") == "zoom"
    with pytest.raises(InvalidConfig, match="name its service"):
        service_of_link("https://example.org/room")
    with pytest.raises(InvalidConfig, match="8 to 11 digits"):
        service_of_link("https://zoom.us/j/123")
