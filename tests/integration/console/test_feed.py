"""The live messages of a bot's page, as a browser asks for them and asks for them again."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from harness.api_room import GOOD_BOT, ApiRoom, api_room, on_a_socket
from harness.console_room import Furnished, Visitor, visitor
from sederunt.accounts.sign_in import MemberRole
from sederunt.api.access.sessions import COOKIE
from sederunt.bus.streams import events_subject
from sederunt.clock import SYSTEM_CLOCK
from sederunt.realtime import hub
from sederunt.settings import BusSettings


async def told(reader: Visitor, bot_id: str, last: str | None = None) -> list[dict[str, str]]:
    """Every message of a feed until it is over, by the fields of its lines."""
    headers = {} if last is None else {"Last-Event-ID": last}
    answer = await reader.client.get(f"/bots/{bot_id}/feed", headers=headers)
    assert answer.status_code == 200, answer.text
    messages = [dict(line.split(": ", 1) for line in each.split("\n")) for each in answer.text.split("\n\n") if each]
    assert messages.pop()["event"] == "over"
    return messages


def lines_in(messages: list[dict[str, str]]) -> list[str]:
    values: list[dict[str, Any]] = [json.loads(message["data"]) for message in messages]
    return [value["data"]["transcript"] for value in values if value["type"] == "ts"]


async def test_a_feed_that_is_asked_for_again_goes_on_behind_its_last_message(
    room: ApiRoom, furnished: Furnished, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, bot_id = await visitor(room), furnished.live["id"]
    for number in range(3):
        line = {"segment_id": str(number), "transcript": f"Line {number}.", "start": number, "end": number + 1}
        said = json.dumps({"type": "ts", "data": {**line, "speaker": 0, "speaker_name": "Ada"}}).encode()
        await room.bus.publish(events_subject(bot_id), said, f"line-{number}")
    over = {"type": "status-update", "data": {"old_status": "recording", "new_status": "finished"}}
    await room.bus.publish(events_subject(bot_id), json.dumps(over).encode(), "over")
    monkeypatch.setattr(hub, "LINGER_S", 0.0)
    whole = await told(reader, bot_id)
    greeting = json.loads(whole[0]["data"])
    assert (greeting["type"], str(greeting["seq"])) == ("connected", whole[0]["id"])
    every = await told(reader, bot_id, "0")
    assert lines_in(every) == ["Line 0.", "Line 1.", "Line 2."]
    assert [message["id"] for message in every] == [str(json.loads(message["data"])["seq"]) for message in every]
    first = next(message["id"] for message in every if "Line 0." in message["data"])
    assert lines_in(await told(reader, bot_id, first)) == ["Line 1.", "Line 2."]
    assert await told(reader, bot_id, every[-1]["id"]) == []
    [greeted] = await told(reader, bot_id, "987654321")  # of a message server that was lost
    assert json.loads(greeted["data"])["type"] == "connected"
    assert (await reader.client.get(f"/bots/{bot_id}/feed", headers={"Last-Event-ID": "x"})).status_code == 400


async def session_in(room: ApiRoom, account_id: UUID | None = None) -> str:
    """The cookie of somebody who may look."""
    viewer = await visitor(room, MemberRole.VIEWER, account_id)
    cookie: str = viewer.client.cookies[COOKIE]
    return cookie


@asynccontextmanager
async def opened(port: int, session: str, bot: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
    """The answer to a request for a bot's feed over a connection of its own, while it goes on."""
    async with (
        httpx2.AsyncClient(headers={"Cookie": f"{COOKIE}={session}"}, timeout=60) as client,
        client.stream("GET", f"http://127.0.0.1:{port}/bots/{bot['id']}/feed") as answer,
    ):
        yield answer


async def test_feeds_are_sockets_of_their_account_and_others_have_theirs(
    tmp_path: Path, bus_settings: BusSettings
) -> None:
    limits = {"sockets_per_account": 2}
    async with (
        api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK, api=limits) as room,
        on_a_socket(room.app) as port,
        AsyncExitStack() as held,
    ):
        viewer, bot = await session_in(room), await room.bot_in("recording")
        first = [await held.enter_async_context(opened(port, viewer, bot)) for _ in range(2)]
        assert [answer.status_code for answer in first] == [200, 200]
        async with opened(port, viewer, bot) as refused:
            assert (refused.status_code, json.loads(await refused.aread())["budget"]) == (429, "sockets")
        async with await room.other_account() as other:
            theirs = (await other.post("/bot", json={**GOOD_BOT, "scheduled_start_time": 4_000_000_000})).json()
            account = (await room.accounts.named("other")).id
            async with opened(port, await session_in(room, account), theirs) as neighbour:
                assert neighbour.status_code == 200
        await held.aclose()
        status = 429
        async with asyncio.timeout(60):
            while status == 429:  # until the service has noticed that they are closed
                async with opened(port, viewer, bot) as again:
                    status = again.status_code
        assert status == 200


@pytest.mark.parametrize("ending", ["removed", "signed out"])
async def test_a_feed_ends_with_the_session_of_who_reads_it(room: ApiRoom, ending: str) -> None:
    owner, viewer = await visitor(room), await visitor(room, MemberRole.VIEWER)
    bot = await room.bot_in("recording")
    session: str = viewer.client.cookies[COOKIE]
    async with on_a_socket(room.app) as port, opened(port, session, bot) as feed, asyncio.timeout(60):
        lines = feed.aiter_lines()
        assert (await anext(lines)).startswith("id: ")
        if ending == "removed":
            members = (await owner.ask("GET", "/member")).json()["data"]
            [person] = [member["id"] for member in members if member["role"] == "viewer"]
            assert (await owner.ask("DELETE", f"/member/{person}")).status_code == 200
        else:
            assert (await viewer.client.post("/sign-out", data={"csrf": await viewer.csrf()})).status_code == 303
        rest = [line async for line in lines]  # ends
    assert not any("over" in line for line in rest)  # the browser asks again, and is led to the sign-in
    async with on_a_socket(room.app) as port, opened(port, session, bot) as again:
        assert again.status_code == 303
