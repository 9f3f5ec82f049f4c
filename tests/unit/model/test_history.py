"""What realtime listeners hear of a change of status."""

from datetime import UTC, datetime

import pytest

from sederunt.model.history import STATUS_UPDATE, Event, live_messages
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
        ("recording", "processing", ["status-update", "stop"]),
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
    (update,) = live_messages(change("processing", "finished", stop_reason="kicked", cause="time_limit", seen="text"))
    assert update["data"] == {
        "old_status": "processing",
        "new_status": "finished",
        "stop_reason": "kicked",
        "cause": "time_limit",
    }
