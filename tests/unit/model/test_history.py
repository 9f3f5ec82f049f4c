"""What realtime listeners hear of a change of status."""

from datetime import UTC, datetime, timedelta

import pytest

from sederunt.model.history import STATUS_UPDATE, WAITING_FOR_CAPACITY, Event, live_messages, seat_wait_s, why_it_left
from sederunt.model.status import TRANSITIONS, BotStatus


def change(old: str, new: str, **more: str) -> Event:
    data = {"old_status": old, "new_status": new, **more}
    return Event(id=1, event=STATUS_UPDATE, data=data, created_at=datetime(2026, 3, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("old", "new", "heard"),
    [
        ("booting", "joining", ["status-update"]),
        ("joining", "recording", ["status-update", "start"]),
        ("recording", "leaving", ["status-update"]),
        ("leaving", "processing", ["status-update", "stop"]),
        ("recording", "failed", ["status-update", "stop"]),
        ("joining", "not_admitted", ["status-update"]),
        ("transcribing", "finished", ["status-update"]),
    ],
)
def test_start_and_stop_follow_the_change_that_brings_the_bot_in_or_out(old: str, new: str, heard: list[str]) -> None:
    assert [message["type"] for message in live_messages(change(old, new))] == heard


def test_who_is_out_of_the_meeting_never_comes_in_again() -> None:
    reached = {BotStatus.PROCESSING, BotStatus.FAILED}
    while new := {after for status in reached for after in TRANSITIONS[status].values()} - reached:
        reached |= new
    assert reached.isdisjoint({BotStatus.RECORDING, BotStatus.LEAVING})


def test_listeners_see_reason_and_cause_and_not_what_the_page_showed() -> None:
    (update,) = live_messages(change("processing", "finished", stop_reason="kicked", cause="host_lost", evidence="x"))
    assert update["data"] == {
        "old_status": "processing",
        "new_status": "finished",
        "stop_reason": "kicked",
        "cause": "host_lost",
    }


def test_why_a_bot_left_is_what_the_change_to_leaving_tells() -> None:
    left = change("recording", "leaving", cause="time_limit", evidence="gmeet.ended", stop_reason="kicked").data
    after = change("leaving", "processing", cause="host_lost").data
    assert why_it_left([change("joining", "recording").data, left, after]) == {
        "cause": "time_limit",
        "evidence": "gmeet.ended",
    }
    assert why_it_left([change("booting", "joining", cause="x").data]) == {}
    assert why_it_left([]) == {}


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([], 0.0),
        ([(STATUS_UPDATE, 0), (STATUS_UPDATE, 50)], 0.0),
        ([(STATUS_UPDATE, 0), (WAITING_FOR_CAPACITY, 10), (WAITING_FOR_CAPACITY, 30), (STATUS_UPDATE, 52)], 42.0),
        ([(STATUS_UPDATE, 0), (WAITING_FOR_CAPACITY, 10)], 0.0),  # it waits still
    ],
)
def test_the_wait_for_a_seat_is_from_the_first_word_of_it_to_what_comes_next(
    history: list[tuple[str, int]], expected: float
) -> None:
    began = datetime(2026, 3, 2, tzinfo=UTC)
    events = [
        Event(id=number, event=event, data={}, created_at=began + timedelta(seconds=at_s))
        for number, (event, at_s) in enumerate(history)
    ]
    assert seat_wait_s(events) == expected
