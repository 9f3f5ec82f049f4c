"""A page whose script speaks our own channel: it costs its own bot, and the host little."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import psutil
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sederunt.browser.loopback import Loopback, PageChannel
from sederunt.browser.signals import Signal

FLOOD = json.dumps({"kind": "chat", "data": {"id": "1", "sender": "a", "text": "x" * 100_000}, "at_ms": 1})


@pytest_asyncio.fixture(loop_scope="module")
async def loopback() -> AsyncIterator[Loopback]:
    async with Loopback() as loopback:
        yield loopback


def open_line(loopback: Loopback, on_signal: Callable[[Signal], None], dropped: asyncio.Event) -> PageChannel:
    return loopback.open_line(
        on_frames=lambda _: None, on_signal=on_signal, may_knock=lambda _: True, on_overrun=dropped.set
    )


async def flood(address: str) -> None:
    async with connect(f"{address}/signals?realm=a") as connection:
        for _ in range(100_000):
            await connection.send(FLOOD)


async def test_a_page_that_floods_is_dropped_and_the_next_bot_is_heard(loopback: Loopback) -> None:
    heard: asyncio.Queue[Signal] = asyncio.Queue()
    dropped = asyncio.Event()
    hostile = open_line(loopback, lambda _: None, dropped)
    neighbour = open_line(loopback, heard.put_nowait, asyncio.Event())
    before = psutil.Process().memory_info().rss
    async with connect(f"{loopback.address(neighbour)}/signals?realm=a") as quiet:
        with pytest.raises(ConnectionClosed):
            await flood(loopback.address(hostile))
        await asyncio.wait_for(dropped.wait(), 30)
        with pytest.raises(InvalidStatus):
            await connect(f"{loopback.address(hostile)}/signals?realm=b")
        await quiet.send(json.dumps({"kind": "chat", "data": {"id": "2"}, "at_ms": 2}))
        assert (await asyncio.wait_for(heard.get(), 30)).data == {"id": "2"}
    assert psutil.Process().memory_info().rss - before < 100e6


async def test_a_page_has_few_connections(loopback: Loopback) -> None:
    line = open_line(loopback, lambda _: None, asyncio.Event())
    address = f"{loopback.address(line)}/signals?realm=a"
    connections = [await connect(address) for _ in range(32)]
    with pytest.raises(InvalidStatus):
        await connect(address)
    for connection in connections:
        await connection.close()
