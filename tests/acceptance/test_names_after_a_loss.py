"""Where one mix is all there is to hear, names rest on marks; a mark that a killed host left open must name nobody."""

import asyncio
from typing import Any

import httpx2

from harness.journeys import back, look, reach, send_bot, unhurried
from harness.receiver import Receiver
from harness.service import Service, until
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo


def marked_open(bot: dict[str, Any]) -> list[str]:
    """Names of those who are marked as speaking."""
    kinds = {person["name"]: [event["type"] for event in person["events"]] for person in bot["participants"]}
    return [name for name, events in kinds.items() if events and events[-1] == "started-speaking"]


async def test_who_spoke_when_the_host_was_killed_is_not_marked_as_speaking_on(
    service: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(service="zoom", turns=18), ends=False))
    async with service.client() as api:
        bot = await send_bot(api, meeting.url, receiver, service="zoom")
        await reach(receiver, bot, "recording")
        address, headers = f"{service.url}/bot/{bot['id']}?with-speaker-events=true", api.headers

        def who_speaks() -> list[str]:
            return marked_open(httpx2.get(address, headers=headers, timeout=60).json())

        (speaker,) = await asyncio.to_thread(until, who_speaks, "a mark")
        service.kill("host")
        await back(api, bot)
        await meeting.end()
        await reach(receiver, bot, "finished", timeout_s=240)
        found = await look(api, bot)
    (gap,) = found["recording_gaps"]
    assert gap["cause"] == "host_lost"
    for person in found["participants"]:
        kinds = [event["type"] for event in person["events"]]
        assert kinds == ["started-speaking", "stopped-speaking"] * (len(kinds) // 2), person
    spoke = next(person["events"] for person in found["participants"] if person["name"] == speaker)
    assert spoke[1]["timestamp"] - spoke[0]["timestamp"] <= 1000 * gap["end"], "not until somebody's next pause"
