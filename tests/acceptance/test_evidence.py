"""What is kept of endings that nobody ordered, and that it goes with the bot."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx2

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import Receiver
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Variant, demo

WHOLE = {"screenshot", "page_text", "signals"}


async def _ended(
    api: httpx2.AsyncClient, meeting: MeetingHandle, receiver: Receiver, status: str, deeds: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    bot = await send_bot(api, meeting.url, receiver)
    after = 0
    for event, deed in deeds:
        if event == "recording":
            await reach(receiver, bot, event)
        else:
            after = (await meeting.wait_for(event, after=after, timeout_s=60))["number"]
        await (meeting.do("command", command=deed) if deed == "crash" else meeting.do(deed))
    await reach(receiver, bot, status)
    return await look(api, bot)


async def _is_gone(anyone: httpx2.AsyncClient, url: str) -> None:
    """Housekeeping removes it within moments; nothing tells of it."""
    async with asyncio.timeout(90):
        while (await anyone.get(url)).status_code == 200:  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.2)


async def test_every_odd_ending_keeps_what_the_page_showed_and_the_row_that_decided(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    async def play(status: str, deeds: Sequence[tuple[str, str]], **variant: Any) -> dict[str, Any]:
        script = demo(Variant(**variant), turns=1)
        meeting = await meetings.open_meeting(unhurried(script, ends=("recording", "kick") not in deeds))
        return await _ended(api, meeting, receiver, status, deeds)

    invalid, denied, kicked, crashed, normal = await asyncio.gather(
        play("not_admitted", (), entry="invalid"),
        play("not_admitted", [("knocked", "deny")], entry="knock"),
        play("finished", [("recording", "kick")]),
        play("failed", [("arrived", "crash")] * 3, entry="knock"),
        play("finished", ()),
    )
    assert normal["evidence"].keys() == {"claims", "why"}
    assert [set(bot["evidence"]) for bot in (invalid, denied)] == [WHOLE] * 2
    assert set(kicked["evidence"]) == WHOLE | {"claims", "why"}, "of a stay what was claimed is kept, too"
    assert set(crashed["evidence"]) == {"signals"}, "a dead page shows nothing, but what it last said is kept"
    async with httpx2.AsyncClient(timeout=30) as anyone:
        for bot, row, words in (
            (denied, "gmeet.", "denied your request"),
            (kicked, "", "removed"),
        ):
            told = (await anyone.get(bot["evidence"]["signals"])).json()
            assert told["address"].startswith("https://meet.google.com/")
            assert told["signals"]
            assert told["row"].startswith(row)
            assert told["row"] in str(bot["events"])
            assert words in (await anyone.get(bot["evidence"]["page_text"])).text
            assert (await anyone.get(bot["evidence"]["screenshot"])).content.startswith(b"\x89PNG")
        assert (await anyone.get(crashed["evidence"]["signals"])).json()["row"] == "page_crashed"
        deleted = await api.delete(f"/bot/{denied['id']}")
        assert deleted.status_code == 200, deleted.text
        await _is_gone(anyone, denied["evidence"]["screenshot"])
