"""A meeting site from an installed package: accepted by the API, joined by a bot, read to its end."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from harness import plugin
from harness.journeys import look, reach, send_bot
from harness.platforms_room import StaticSite
from harness.receiver import Receiver
from harness.service import Service

ROOM = "https://roundtable.example.org/room/monday"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[StaticSite]:
    made = StaticSite(tmp_path)
    await made.start()
    made.put("/room/monday", (plugin.PLUGIN / "room.html").read_text(encoding="utf-8"))
    yield made
    await made.stop()


@pytest.fixture
async def api(tmp_path: Path, site: StaticSite) -> AsyncIterator[httpx2.AsyncClient]:
    package = plugin.install(tmp_path / "package")
    service = Service(tmp_path / "data", site.host_rules, plugin.on_path(package))
    async with service.client() as client:
        yield client
    service.stop()


async def test_a_bot_attends_a_meeting_at_a_site_from_a_package(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    document = (await api.get("/openapi.json")).json()
    offered = document["components"]["schemas"]["Bot"]["properties"]["service"]["enum"]
    assert offered == ["gmeet", "teams", "zoom", "roundtable"]

    body = {"transcription_model": "none", "service": "roundtable", "meeting_url": "https://zoom.us/j/123456789"}
    refused = await api.post("/bot", json={**body, "bot_name": "Minutes"})
    assert refused.status_code == 400
    assert "expected https://roundtable.example.org/room/<name>" in refused.text

    bot = await send_bot(api, ROOM, receiver, service="roundtable", initial_chat_message="Hello, table.")
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert (found["service"], found["status"], found["stop_reason"]) == ("roundtable", "finished", "meeting_ended")
    assert {person["name"] for person in found["participants"]} >= {"Ada Lovelace"}
    assert receiver.statuses(bot["id"])[:2] == ["joining", "recording"]
