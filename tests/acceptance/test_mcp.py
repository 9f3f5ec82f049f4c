"""A language model's client takes part in a meeting by tools alone: over HTTP, and by `sederunt mcp`."""

import asyncio
from typing import Any

from harness.journeys import unhurried
from harness.mcp_clients import tools_of
from harness.service import Service
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo


async def test_a_meeting_is_followed_explained_and_read_by_tools_alone(
    service: Service, meetings: PracticeClient
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=2), begins=False, ends=False))
    url = service.url.removesuffix("/api/v1")
    async with tools_of("http", url, service.key) as tools, tools_of("stdio", url, service.key) as laptop:
        bot = await tools.ask(
            "send_bot", meeting_url=meeting.url, transcription_model="whisper-realtime", greeting="I take the minutes."
        )
        bot_id = bot["id"]
        await meeting.wait_for("chat", text="I take the minutes.", timeout_s=120)
        await laptop.ask("say_in_chat", bot_id=bot_id, message="Hello from the laptop.")
        await meeting.wait_for("chat", text="Hello from the laptop.", timeout_s=60)
        await meeting.do("start")

        said: list[str] = []
        since = None
        async with asyncio.timeout(120):
            while {"Mary Somerville", "Charles Babbage"} - set(said):
                answer = await tools.ask("follow_meeting", bot_id=bot_id, since=since, wait_s=20)
                since = answer["next"]
                lines = answer["untrusted_meeting_content"]["lines"]
                said += [line["speaker"] for line in lines if line["what"].startswith("said")]
        here = await laptop.content("who_is_here", bot_id=bot_id)
        assert {"Ada Lovelace", "Charles Babbage", "Mary Somerville"} <= set(here["here"])
        assert "sits in the meeting" in (await laptop.ask("explain_bot", bot_id=bot_id))["summary"]

        await tools.ask("stop_bot", bot_id=bot_id)
        ended: dict[str, Any] = {"ended": False}
        async with asyncio.timeout(180):
            while not ended["ended"]:
                ended = await laptop.ask("wait_for_ending", id=bot_id, wait_s=45)
        assert (ended["status"], ended["stop_reason"], ended["verdict"]) == ("finished", "manually_stopped", "healthy")
        read = await tools.content("read_transcript", id=bot_id)
        assert {line["speaker"] for line in read["lines"]} >= {"Mary Somerville", "Charles Babbage"}
        explained = await laptop.ask("explain_bot", bot_id=bot_id)
        assert explained["summary"] == "It was asked to leave. Sound was recorded."
        people = explained["untrusted_meeting_content"]["people"]
        assert {person["name"] for person in people} >= {"Ada Lovelace", "Charles Babbage", "Mary Somerville"}
        assert all(person["why"] for person in people)
        other = await _key_of_another_account(service)
    async with tools_of("http", url, other) as stranger, tools_of("stdio", url, other) as outside:
        for tools in (stranger, outside):
            assert (await tools.ask("list_bots"))["bots"] == []
            assert "There is no bot" in await tools.refused("explain_bot", bot_id=bot_id)


async def _key_of_another_account(service: Service) -> str:
    await asyncio.to_thread(service.run, "accounts", "create", "of-the-tools")
    made = await asyncio.to_thread(service.run, "keys", "create", "tools", "--account", "of-the-tools")
    return made.strip()
