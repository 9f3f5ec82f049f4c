"""Every ending is told truthfully: each reason is reached by its own evidence."""

import asyncio
from typing import Any

import httpx
import pytest

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import Receiver
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Participant, Script, Variant, demo

# (what the site does, how the bot ends, with which reason)
AT_THE_DOOR: list[tuple[dict[str, Any], str, str | None]] = [
    ({"entry": "deny_after", "after_s": 1.0}, "not_admitted", "request_denied"),
    ({"entry": "server_timeout", "after_s": 1.0}, "not_admitted", "waiting_room_timeout"),
    ({"entry": "invalid"}, "not_admitted", "invalid_meeting_url"),
    ({"entry": "ended"}, "not_admitted", "call_already_finished"),
    ({"entry": "sign_in"}, "auth_required", None),
    ({"entry": "blocked"}, "bot_detected", None),
]


@pytest.mark.parametrize(
    ("variant", "status", "reason"), AT_THE_DOOR, ids=[str(variant["entry"]) for variant, _, _ in AT_THE_DOOR]
)
async def test_a_bot_that_is_not_let_in_says_why(
    api: httpx.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    variant: dict[str, Any],
    status: str,
    reason: str | None,
) -> None:
    meeting = await meetings.open_meeting(demo(Variant(**variant)))
    bot = await send_bot(api, meeting.url, receiver)
    await reach(receiver, bot, status)
    found = await look(api, bot)
    assert found["stop_reason"] == reason
    assert found["verdict"] == "never_admitted"
    assert found["recording_url"] is None
    assert "screenshot" in found["evidence"]


async def test_a_challenged_bot_tries_three_more_times_on_a_fresh_context(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(demo(Variant(entry="captcha")))
    bot = await send_bot(api, meeting.url, receiver)
    arrived = 0
    for _ in range(4):
        arrived = (await meeting.wait_for("arrived", after=arrived, timeout_s=90))["number"]
    await asyncio.to_thread(receiver.wait_count, bot["id"], "bot_detected", 4)
    found = await look(api, bot)
    tried = [e["data"]["new_status"] for e in found["events"] if e["event"] == "status_update"]
    assert tried.count("bot_detected") == 4
    assert tried[-1] == "bot_detected"


async def test_a_kicked_bot_says_so_and_keeps_what_it_heard(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(), ends=False))
    bot = await send_bot(api, meeting.url, receiver)
    await reach(receiver, bot, "recording")
    await meeting.kick()
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert (found["stop_reason"], found["recording_url"] is not None) == ("kicked", True)


async def test_a_stop_before_admission_is_not_admitted_and_one_inside_is_finished(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    knocking = await meetings.open_meeting(demo(Variant(entry="knock")))
    outside = await send_bot(api, knocking.url, receiver)
    await knocking.wait_for("knocked")
    assert (await api.post(f"/bot/{outside['id']}/stop")).status_code == 200
    await reach(receiver, outside, "not_admitted")
    assert (await look(api, outside))["stop_reason"] == "manually_stopped"

    open_room = await meetings.open_meeting(unhurried(demo(), ends=False))
    inside = await send_bot(api, open_room.url, receiver)
    await reach(receiver, inside, "recording")
    assert (await api.post(f"/bot/{inside['id']}/stop")).status_code == 200
    await reach(receiver, inside, "finished")
    assert (await look(api, inside))["stop_reason"] == "manually_stopped"
    await open_room.wait_for("left")


async def test_a_waiting_room_is_left_after_the_callers_limit(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(demo(Variant(entry="knock")))
    bot = await send_bot(api, meeting.url, receiver, stop_options={"waiting_room_timeout": 1})
    await reach(receiver, bot, "not_admitted", timeout_s=150)
    assert (await look(api, bot))["stop_reason"] == "waiting_room_timeout"


async def test_a_bot_left_alone_leaves(api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver) -> None:
    meeting = await meetings.open_meeting(Script(cast=(Participant(name="Ada Lovelace", host=True),)))
    bot = await send_bot(api, meeting.url, receiver, stop_options={"last_person_detection": 1, "silence_detection": 0})
    await reach(receiver, bot, "recording")
    await meeting.do("leave", who="Ada Lovelace")
    await reach(receiver, bot, "finished", timeout_s=150)
    assert (await look(api, bot))["stop_reason"] == "last_person_detected"


async def test_a_link_that_is_none_is_told_at_once_with_the_field(api: httpx.AsyncClient, receiver: Receiver) -> None:
    answer = await api.post(
        "/bot",
        json={
            "service": "gmeet",
            "meeting_url": "https://zoom.us/j/123",
            "bot_name": "Minutes",
            "transcription_model": "none",
        },
    )
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["meeting_url"]
