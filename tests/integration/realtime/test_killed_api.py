"""A listener that resumes misses nothing and hears nothing twice, also when the api process is killed meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from harness.listener import listening
from harness.service import Service
from sederunt.bus import embedded, streams
from sederunt.bus.connection import Bus
from sederunt.settings import BusSettings

BOT = {
    "service": "gmeet",
    "meeting_url": "https://meet.google.com/abc-defg-hij",
    "bot_name": "Minutes",
    "transcription_model": "none",
    "realtime_audio": True,
    "scheduled_start_time": 4_000_000_000,
}
COUNT = 400


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "data", "", {"SEDERUNT_BROWSER__WARM": "0"})
    yield service
    service.stop()


@pytest.fixture
async def bus(service: Service) -> AsyncIterator[Bus]:
    bus = await Bus.connect(embedded.address_of(service.data, BusSettings()), name="tests")
    yield bus
    await bus.close()


async def publish(bus: Bus, bot_id: str, numbers: range) -> None:
    for number in numbers:
        message = {"type": "ts", "data": {"segment_id": str(number), "transcript": str(number)}}
        await bus.publish(streams.events_subject(bot_id), json.dumps(message).encode(), f"{bot_id}-{number}")


async def test_a_listener_resumes_across_a_kill_of_the_api(service: Service, bus: Bus) -> None:
    async with service.client() as api:
        bot = (await api.post("/bot", json=BOT)).json()
    address = bot["websocket_read_only_url"]
    known, since, breaks = list[int](), 0, 0
    publishing = asyncio.create_task(publish(bus, bot["id"], range(COUNT // 2)))
    while len(known) < COUNT:
        async with listening(address, since=since) as listener:
            try:
                connected = await listener.next()
                told = [int(segment["segment_id"]) for segment in connected["data"]["transcripts"]]
                assert (told, connected["seq"]) == (known, since)
                while len(known) < COUNT:
                    message = await listener.next()
                    known.append(int(message["data"]["segment_id"]))
                    since = message["seq"]
                    if len(known) == COUNT // 4:
                        service.kill("api")
            except ConnectionClosed:
                breaks += 1
                await publishing  # while there was no api
                publishing = asyncio.create_task(publish(bus, bot["id"], range(COUNT // 2, COUNT)))
    assert breaks == 1
    assert known == list(range(COUNT))
    async with listening(address) as newcomer:
        connected = await newcomer.next()
    assert [int(segment["segment_id"]) for segment in connected["data"]["transcripts"]] == known
    assert connected["seq"] == since
    assert address.rpartition("/")[2] not in service.log.read_text()
