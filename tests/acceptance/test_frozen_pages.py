"""No call to a page is without a deadline: a page that freezes or dies, wherever, is replaced."""

import asyncio
import itertools
from typing import Any

import httpx2

from harness.journeys import back, look, reach, send_bot, stay_bounds_s, unhurried
from harness.receiver import Receiver
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Service, Variant, demo

BACK_WITHIN_S = 90.0  # forty seconds where the machine is not busy
CAUSES = {"freeze": "page_stuck", "crash": "page_crashed", "wander": "page_left"}


async def break_page(meeting: MeetingHandle, trouble: str) -> None:
    """Break the bot's page, and wait until a fresh one asks to be let in."""
    last = (await meeting.events())[-1]["number"]
    await meeting.do("command", command=trouble)
    fresh = (await meeting.wait_for("arrived", after=last, timeout_s=BACK_WITHIN_S))["number"]
    await meeting.wait_for("knocked", after=fresh, timeout_s=BACK_WITHIN_S)


def troubles(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [event["data"] for event in found["events"] if event["event"] == "page_trouble"]


async def test_a_page_that_breaks_on_the_way_in_is_replaced(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    async def play(phase: str, trouble: str) -> Any:
        meeting = await meetings.open_meeting(unhurried(demo(Variant(entry="knock"), turns=0), ends=False))
        bot = await send_bot(api, meeting.url, receiver)
        await meeting.wait_for({"prejoin": "arrived", "lobby": "knocked"}[phase], timeout_s=60)
        await break_page(meeting, trouble)
        await meeting.admit()
        await reach(receiver, bot, "recording")
        await meeting.end()
        await reach(receiver, bot, "finished")
        found = await look(api, bot)
        return found["stop_reason"], found["recording_gaps"]

    cases = list(itertools.product(("prejoin", "lobby"), ("freeze", "crash")))
    played = dict(zip(cases, await asyncio.gather(*(play(*case) for case in cases)), strict=True))
    assert played == dict.fromkeys(cases, ("meeting_ended", []))


async def test_a_page_that_breaks_in_the_call_is_replaced_and_the_gap_is_marked(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    async def play(site: Service, trouble: str) -> dict[str, Any]:
        meeting = await meetings.open_meeting(unhurried(demo(service=site, turns=18), ends=False))
        bot = await send_bot(api, meeting.url, receiver, service=site)
        await reach(receiver, bot, "recording")
        await meeting.wait_for("fell_silent")
        await break_page(meeting, trouble)
        await back(api, bot)
        await meeting.end()
        await reach(receiver, bot, "finished")
        assert receiver.statuses(bot["id"]).count("recording") == 1
        return await look(api, bot)

    cases: list[tuple[Service, str]] = [
        ("gmeet", "freeze"),
        ("teams", "crash"),
        ("zoom", "freeze"),
        ("teams", "wander"),
    ]
    played = dict(zip(cases, await asyncio.gather(*(play(*case) for case in cases)), strict=True))
    gaps = {case: [gap["cause"] for gap in found["recording_gaps"]] for case, found in played.items()}
    assert gaps == {(site, trouble): [CAUSES[trouble]] for site, trouble in cases}
    assert {found["stop_reason"] for found in played.values()} == {"meeting_ended"}
    for found in played.values():
        names = [person["name"] for person in found["participants"]]
        assert sorted(names) == sorted(set(names)), "nobody stands there twice"
        assert [told["cause"] for told in troubles(found) if told["recovery"] != "none"] == [
            gap["cause"] for gap in found["recording_gaps"]
        ]
        (gap,) = found["recording_gaps"]
        assert 0 < gap["start"] < gap["end"] < stay_bounds_s(found)[1]
