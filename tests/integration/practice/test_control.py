"""The control API of a practice server that is a process of its own, through its client."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
import pytest
import uvicorn

from sederunt.console.practice import PracticeSites
from sederunt.errors import RequestError, SetupError
from sederunt.practice import script
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import Variant
from sederunt.practice.server import PracticeServer


@pytest.fixture
async def facts() -> AsyncIterator[dict[str, Any]]:
    """`sederunt practice serve` with the demonstration; what it printed."""
    command = [sys.executable, "-m", "sederunt.cli.main", "practice", "serve", "--port", "0", "--control-port", "0"]
    process = await asyncio.create_subprocess_exec(*command, "--demo", stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    yield json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
    process.terminate()
    assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_the_served_process_says_how_it_is_reached(facts: dict[str, Any]) -> None:
    assert facts["meetings"][0].startswith("https://meet.google.com/")
    assert f"MAP meet.google.com 127.0.0.1:{facts['port']}" in facts["host_rules"]
    async with PracticeClient(facts["control_url"]) as client:
        assert await client.host_rules() == facts["host_rules"]


async def test_the_sites_that_the_console_starts_obey_the_console_alone() -> None:
    sites = PracticeSites()
    try:
        meeting, _ = await sites.open_meeting(UUID(int=1))
        known = sites._control_url
        port = urlsplit(known).port
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as stranger:
            code = meeting.rpartition("/")[2]
            for guess in ("", "/x", "/meetings"):
                for method, path in (("GET", "/meetings"), ("POST", "/meetings"), ("POST", f"/meetings/{code}/end")):
                    assert (await stranger.request(method, guess + path)).status_code == 404, guess + path
        async with PracticeClient(known) as client:
            assert [each["is_over"] for each in (await client.ask("GET", "/meetings"))["meetings"]] == [False]
    finally:
        await sites.close()


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=rf"127\.0\.0\.1:{port}: address already in use; choose another port"):
            PracticeServer(port)


def test_one_port_for_both_is_refused() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SetupError, match=rf"127\.0\.0\.1:{port}: address already in use; choose another port"):
        PracticeServer(port, control_port=port)
    with socket.create_server(("127.0.0.1", port)):
        pass  # nobody listens there any more


def test_a_number_that_is_no_port_is_refused() -> None:
    with pytest.raises(SetupError, match=r"127\.0\.0\.1:70000: .*; choose another port"):
        PracticeServer(70_000)


async def test_a_server_that_cannot_begin_says_why_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fall(*_: object, **__: object) -> None:
        raise OSError("no more descriptors")

    server = PracticeServer()
    monkeypatch.setattr(uvicorn.Server, "startup", fall)
    with pytest.raises(OSError, match="no more descriptors"):
        async with asyncio.timeout(20), server:
            pytest.fail("It did not begin.")
    assert not server.certificate.key.parent.exists()


async def test_a_meeting_is_opened_steered_and_closed(facts: dict[str, Any]) -> None:
    async with PracticeClient(facts["control_url"]) as client:
        meeting = await client.open_meeting(script.demo(Variant(entry="knock"), turns=1), code="abc-defg-hij")
        assert meeting.url == "https://meet.google.com/abc-defg-hij"
        await meeting.do("start")
        said = await meeting.wait_for("said")
        assert said["who"] == "Mary Somerville"
        await meeting.say("Ada Lovelace", "superlative")
        await meeting.wait_for("said", who="Ada Lovelace")
        await meeting.chat("Ada Lovelace", "Good morning.")
        state = await meeting.state()
        assert [message["text"] for message in state["chat"]] == ["Good morning."]
        assert state["reference"][0][0] == "Mary Somerville"
        await meeting.end()
        assert [event["kind"] for event in await meeting.events()][-1] == "ended"
        await meeting.close()
        with pytest.raises(RequestError, match="There is no practice meeting abc-defg-hij"):
            await meeting.state()


async def test_faults_come_back_as_sentences(facts: dict[str, Any]) -> None:
    async with PracticeClient(facts["control_url"]) as client:
        with pytest.raises(RequestError, match=r"variant\.entrance"):
            await client.open_meeting({"variant": {"entrance": "open"}})
        meeting = await client.open_meeting()
        with pytest.raises(RequestError, match="No bot is knocking"):
            await meeting.admit()
        with pytest.raises(RequestError, match="Nemo is not in"):
            await meeting.say("Nemo", "jfk")
        with pytest.raises(RequestError, match="There is no clip hush"):
            await meeting.say("Ada Lovelace", "hush")
        with pytest.raises(RequestError, match="There is no deed dance"):
            await meeting.do("dance")
        with pytest.raises(TimeoutError, match="Expected said"):
            await meeting.wait_for("said", timeout_s=0.1)
