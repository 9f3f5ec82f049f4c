"""No call to a page is without a deadline: a page that freezes or dies, wherever, is replaced within 20 seconds."""

import asyncio
import itertools
import time
from typing import Any

import httpx
import pytest

from harness.journeys import look, reach, send_bot
from harness.receiver import Receiver
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Service, Variant, demo

BACK_WITHIN_S = 20.0
CAUSES = {"freeze": "page_stuck", "crash": "page_crashed"}
SITES: tuple[Service, ...] = ("gmeet", "teams", "zoom")


async def back_after(meeting: MeetingHandle, trouble: str) -> float:
    """Break the bot's page; how long until a fresh one asked to be let in, in seconds."""
    last = (await meeting.events())[-1]["number"]
    began = time.monotonic()
    await meeting.do("command", command=trouble)
    await meeting.wait_for("knocked", after=last, timeout_s=60)
    return time.monotonic() - began


@pytest.mark.timeout(240)
async def test_a_page_that_breaks_on_the_way_in_is_replaced(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    async def play(phase: str, trouble: str) -> tuple[float, Any]:
        meeting = await meetings.open_meeting(demo(Variant(entry="knock"), turns=0))
        bot = await send_bot(api, meeting.url, receiver)
        await meeting.wait_for({"prejoin": "arrived", "lobby": "knocked"}[phase], timeout_s=60)
        away_s = await back_after(meeting, trouble)
        await meeting.admit()
        await reach(receiver, bot, "finished")
        found = await look(api, bot)
        return away_s, (found["stop_reason"], found["recording_gaps"])

    cases = list(itertools.product(("prejoin", "lobby"), CAUSES))
    played = dict(zip(cases, await asyncio.gather(*(play(*case) for case in cases)), strict=True))
    assert {case: ended for case, (_, ended) in played.items()} == dict.fromkeys(cases, ("meeting_ended", []))
    assert not {case: away_s for case, (away_s, _) in played.items() if away_s > BACK_WITHIN_S}


@pytest.mark.timeout(240)
async def test_a_page_that_breaks_in_the_call_is_replaced_and_the_gap_is_marked(
    api: httpx.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    async def play(site: Service, trouble: str) -> tuple[float, Any]:
        meeting = await meetings.open_meeting(demo(service=site, turns=4))
        bot = await send_bot(api, meeting.url, receiver, service=site)
        await reach(receiver, bot, "recording")
        await meeting.wait_for("fell_silent")
        away_s = await back_after(meeting, trouble)
        await reach(receiver, bot, "finished")
        assert receiver.statuses(bot["id"]).count("recording") == 1
        return away_s, await look(api, bot)

    cases = list(itertools.product(SITES, CAUSES))
    played = dict(zip(cases, await asyncio.gather(*(play(*case) for case in cases)), strict=True))
    gaps = {case: [gap["cause"] for gap in found["recording_gaps"]] for case, (_, found) in played.items()}
    assert gaps == {(site, trouble): [CAUSES[trouble]] for site, trouble in cases}
    assert {found["stop_reason"] for _, found in played.values()} == {"meeting_ended"}
    assert not {case: away_s for case, (away_s, _) in played.items() if away_s > BACK_WITHIN_S}
    lengths = [gap["end"] - gap["start"] for _, found in played.values() for gap in found["recording_gaps"]]
    assert all(0 < length <= BACK_WITHIN_S + 8 for length in lengths)  # and the way in, and what was not yet stored
