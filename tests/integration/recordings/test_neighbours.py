"""One account floods fetches, transcriptions and webhooks; another's are served meanwhile, before any of those.

What is told is order and counts, with a real worker: not how fast the machine is.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.api_room import ApiRoom, api_room, tone_wav
from harness.service import running_role
from harness.stubborn import StubbornServer, stubborn_server
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.budgets import count_of
from sederunt.settings import BusSettings

MODEL = "vendor2"
FLOOD = 20  # more than a queue has places


def worker_environment(room: ApiRoom, vendor: str) -> dict[str, str]:
    bus = room.settings.bus
    assert bus.url is not None
    assert bus.token is not None
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")}
    return {
        **ours,
        "SEDERUNT_BUS__URL": bus.url,
        "SEDERUNT_BUS__TOKEN": bus.token.get_secret_value(),
        "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
        "SEDERUNT_PROVIDERS": f'{{"deepgram": {{"url": "{vendor}", "key": "operator"}}}}',
    }


@asynccontextmanager
async def worker_beside(room: ApiRoom, vendor: str, log: Path) -> AsyncIterator[None]:
    """Run a worker on the application's data; the application goes on while it starts and ends."""
    arguments = ("worker", "--data", str(room.settings.data), "--drain-timeout", "0")
    with ExitStack() as stack:
        role = running_role(arguments, worker_environment(room, vendor), log)
        await asyncio.to_thread(stack.enter_context, role)
        try:
            yield
        finally:
            await asyncio.to_thread(stack.close)


async def flood(room: ApiRoom, urls: list[str]) -> None:
    """Send, as one account, what holds every place that it is given."""
    for number in range(FLOOD):
        await room.recording(tone_wav(0.2), transcription_model=MODEL)
        asked = {"transcription_model": MODEL, "recording_url": f"{urls[0]}/drip"}
        assert (await room.client.post("/recording", json=asked)).status_code == 200
        receiver = f"{urls[number % len(urls)]}/silent"
        await room.bot_in("failed", webhook_url=receiver, transcription_model="none")


async def served(server: StubbornServer, client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    """Have a recording fetched, transcribed and told of, as another account."""
    asked = {"transcription_model": MODEL, "recording_url": f"{url}/talk", "webhook_url": f"{url}/hook"}
    answer = await client.post("/recording", json=asked)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    server.served.add(made["id"])
    await server.wait_for_hook(made["id"], "finished")
    found: dict[str, Any] = (await client.get(f"/recording/{made['id']}")).json()
    return found


async def test_a_flood_of_one_account_holds_its_share_of_places_and_another_account_is_served_before_it(
    tmp_path: Path, bus_settings: BusSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stubborn_server(tone_wav(1.0)) as (server, urls):
        monkeypatch.setenv("SEDERUNT_PROVIDERS", f'{{"deepgram": {{"url": "{urls[0]}", "key": "operator"}}}}')
        settings: dict[str, Any] = {"allow_private_addresses": True}
        async with api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK, **settings) as room:
            await flood(room, urls)
            async with worker_beside(room, urls[0], tmp_path / "worker.log"):
                async with asyncio.timeout(300):
                    await server.wait("/drip", count_of("fetches"))
                    await server.wait("/v1/listen", count_of("transcriptions"))
                    await server.wait("/silent", count_of("receiver_attempts"))
                    async with await room.other_account() as other:
                        found = await served(server, other, urls[1])
                    # All that was asked for before is still there, and none of it was done.
                    assert found["status"] == "finished"
                    assert [segment["transcript"] for segment in found["transcript"]] == ["Hello."]
                    assert server.most["/drip"] == count_of("fetches")
                    assert server.most["/v1/listen"] <= count_of("transcriptions") + 1
                    assert server.most["/silent"] <= count_of("webhook_attempts")
                    mine = (await room.client.get("/recording", params={"limit": 200})).json()["data"]
                    assert {recording["status"] for recording in mine} == {"transcribing"}
                    assert len(mine) == 2 * FLOOD
                    # Who looks at the metrics sees who is at the limit.
                    metrics = (await room.client.get("http://api.test/metrics")).text
                    for budget in ("fetches", "transcriptions"):
                        assert f'sederunt_budget_use{{budget="{budget}"}} 1.0' in metrics
