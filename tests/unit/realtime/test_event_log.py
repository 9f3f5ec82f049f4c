"""A bot's events as listeners read them: positions, numbers, and what was known at any of them."""

import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.bus.feeds import FeedEvent
from sederunt.realtime import event_log as module
from sederunt.realtime.event_log import Kept


def said(number: int) -> FeedEvent:
    data = {"segment_id": str(number), "transcript": f"Sentence {number}.", "start": number, "end": number + 1}
    return FeedEvent(sequence=number, event={"type": "ts", "data": data})


def filled(numbers: list[int]) -> Kept:
    kept = Kept()
    for number in numbers:
        kept.append(said(number))
    return kept


def connected(kept: Kept, position: int) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(kept.connected(position, "booting"))
    return message


def heard(kept: Kept, since: int) -> list[int]:
    """The numbers that somebody who resumes there knows in the end: from the snapshot, then one by one."""
    position = kept.after(since)
    known = [int(segment["segment_id"]) for segment in connected(kept, position)["data"]["transcripts"]]
    return known + [json.loads(kept.text(p))["seq"] for p in range(position, kept.end)]


@given(numbers=st.sets(st.integers(1, 99), min_size=1), since=st.integers(0, 120))
def test_wherever_a_listener_resumes_it_knows_everything_once(numbers: set[int], since: int) -> None:
    with patch.object(module, "_MARKED", 7):
        kept = filled(sorted(numbers))
    assert heard(kept, since) == sorted(numbers)
    assert connected(kept, kept.after(since))["seq"] == max((n for n in numbers if n <= since), default=0)
    assert kept.is_number(since) == (since in {0, *numbers})


def test_what_is_dropped_for_room_is_still_in_the_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 2000)
    monkeypatch.setattr(module, "_MARKED", 7)
    kept = filled(list(range(1, 101)))
    assert not kept.is_number(0)
    assert 50 < kept.start < kept.end == 100
    for since in (0, 10, kept.start, 99, 100):
        assert heard(kept, since) == list(range(1, 101))


def test_the_row_tells_the_status_where_no_event_has() -> None:
    kept = Kept()
    assert connected(kept, 0)["data"]["status"] == "booting"
    kept.append(changed(7, "booting", "joining"))
    assert connected(kept, 1)["data"]["status"] == "joining"


def test_who_resumes_before_the_first_change_is_told_what_it_changed() -> None:
    kept = Kept()
    for event in (said(1), changed(2, "scheduled", "booting"), said(3), changed(4, "booting", "joining")):
        kept.append(event)
    told = [connected(kept, position)["data"]["status"] for position in range(5)]
    assert told == ["scheduled", "scheduled", "booting", "booting", "joining"]


def changed(number: int, old: str, new: str) -> FeedEvent:
    change = {"type": "status-update", "data": {"old_status": old, "new_status": new}}
    return FeedEvent(sequence=number, event=change)
