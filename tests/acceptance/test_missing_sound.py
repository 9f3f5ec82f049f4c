"""Calls in which people are shown speaking and no sound comes: what is reported, and what is tried."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from harness.journeys import back, begin, look, reach, send_bot, unhurried
from harness.receiver import Receiver
from sederunt.model.trouble import Recovery
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Variant, demo

REPORTED, REPLACED = ("no_sound", Recovery.NONE), ("no_sound", Recovery.FRESH_PAGE)
TURNS = 30  # minutes of talk: whoever needs no more of it ends the meeting


async def talking_to(
    meetings: PracticeClient, api: httpx2.AsyncClient, receiver: Receiver, **variant: Any
) -> tuple[MeetingHandle, dict[str, Any]]:
    """A meeting of such a site in which people talk, and a bot that records it."""
    script = unhurried(demo(Variant(speaking="server", **variant), turns=TURNS), begins=False, ends=False)
    meeting = await meetings.open_meeting(script)
    bot = await send_bot(api, meeting.url, receiver, webhook_events=["page_trouble"])
    await begin(meeting, receiver, bot)
    return meeting, bot


async def when(
    api: httpx2.AsyncClient, bot: dict[str, Any], is_so: Callable[[Mapping[str, Any]], object]
) -> Mapping[str, Any]:
    """The bot, as soon as something holds of it."""
    async with asyncio.timeout(150):
        while not is_so(found := await look(api, bot)):  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.5)
    return found


def troubles(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Cause and recovery of all that befell the pages of a bot."""
    told = [event["data"] for event in found["events"] if event["event"] == "page_trouble"]
    return [(data["cause"], data["recovery"]) for data in told]


async def test_a_call_that_stays_without_sound_is_reported_and_entered_anew_once(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting, bot = await talking_to(meetings, api, receiver, sound="never")
    await when(api, bot, lambda found: troubles(found) == [REPORTED, REPLACED, REPORTED])
    await meeting.end()
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert found["verdict"] == "capture_failed"
    assert troubles(found) == [REPORTED, REPLACED, REPORTED]
    assert [gap["cause"] for gap in found["recording_gaps"]] == ["no_sound"]
    told = [each.body for each in receiver.deliveries if each.body["type"] == "page_trouble"]
    assert [data["data"]["cause"] for data in told if data["bot_id"] == bot["id"]] == ["no_sound"] * 3


async def test_sound_that_only_a_fresh_page_brings_is_recorded(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting, bot = await talking_to(meetings, api, receiver, sound="second_page")
    await back(api, bot)
    heard_from = (await meeting.wait_for("media_connected", bot="bot-2"))["number"]
    begun = await meeting.wait_for("said", after=heard_from)
    await meeting.wait_for("fell_silent", after=begun["number"])
    await meeting.end()
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert troubles(found) == [REPORTED, REPLACED]
    assert (found["verdict"], found["capture"]["backend"]) == ("healthy", "encoded")


async def test_sound_that_only_samples_bring_costs_no_page(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting, bot = await talking_to(meetings, api, receiver, audio="beside_receivers")
    number = 0
    for _ in range(3):
        number = (await meeting.wait_for("fell_silent", after=number))["number"]
    await meeting.end()
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert (found["verdict"], found["capture"]["backend"]) == ("healthy", "worklet")
    assert REPLACED not in troubles(found)
