"""Many listen to one bot, some do not read: those are sent away, and nobody else notices."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from websockets.asyncio.client import ClientConnection, connect

from harness.api_room import on_a_socket
from harness.listener import Listener
from harness.socket_room import Stage
from sederunt.api.sockets import endpoints
from sederunt.api.transport import protocols
from sederunt.bus import feeds
from sederunt.realtime import audio, hub
from sederunt.realtime.hub import Channel, Hub
from sederunt.realtime.messages import TOO_SLOW

EVENTS = 300
LONG = "x" * 8000  # so that the lines of those who do not read are full soon


async def sent_away(stage: Stage, code: int) -> None:
    """Wait until the service says that it closed one socket with this code."""
    await counted(stage, f'sederunt_sockets_closed_total{{code="{code}",kind="events"}} 1.0')


async def counted(stage: Stage, wanted: str) -> None:
    """Wait until the metrics, which are made anew after a while, have this line."""
    async with asyncio.timeout(60):
        while wanted not in (await stage.room.client.get("/metrics")).text:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def deaf_listener(address: str, port: int) -> ClientConnection:
    """Somebody who opens a socket and reads nothing from it, and so answers nothing."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", port))
    listener = await connect(address, sock=line, compression=None)
    listener.transport.pause_reading()
    return listener


async def test_who_never_reads_is_sent_away_and_the_others_hear_everything_in_order(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "PATIENCE_S", 0.5)
    monkeypatch.setattr(protocols, "GOODBYE_S", 0.5)
    bot = await stage.bot()

    async def follow(listener: Listener) -> list[int]:
        await listener.next()
        return [(await listener.next())["data"]["number"] for _ in range(EVENTS)]

    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(stage.listen(bot)) for _ in range(20)]
        deaf = await deaf_listener(stage.address(bot), stage.port)
        following = [asyncio.create_task(follow(reader)) for reader in readers]
        for number in range(EVENTS):
            await stage.tell(bot, {"type": "chat-message", "data": {"number": number, "content": LONG}})
        assert await asyncio.gather(*following) == [list(range(EVENTS))] * len(readers)
        await sent_away(stage, TOO_SLOW.code)
        deaf.transport.abort()
        await counted(stage, 'sederunt_listeners{kind="events"} 20.0')


async def test_who_answers_no_ping_is_sent_away_though_nothing_happens(stage: Stage) -> None:
    bot = await stage.bot()
    async with on_a_socket(stage.room.app, ws_ping_interval=0.1, ws_ping_timeout=0.1) as port:
        deaf = await deaf_listener(stage.address(bot).replace(f":{stage.port}/", f":{port}/"), port)
        await sent_away(stage, 1011)
        deaf.transport.abort()


@pytest.fixture
async def a_hub(stage: Stage) -> AsyncIterator[Hub]:
    async def look(bot_id: object) -> None:
        raise AssertionError("no minute passes in these tests")

    made = Hub(stage.room.bus, stage.clock, look)
    yield made
    await made.close()


async def test_who_falls_too_many_events_behind_is_sent_away(
    stage: Stage, a_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MOST_BEHIND", 10)
    bot = await stage.bot()
    async with a_hub.channel(await stage.row(bot)) as channel:
        slow = channel.events(None)
        await anext(slow)
        waiting = asyncio.ensure_future(anext(slow))
        await stage.tell(bot, *({"type": "start"} for _ in range(12)))
        assert '"start"' in str(await waiting)
        await channel.catch_up()
        assert await anext(slow) == TOO_SLOW
        await slow.aclose()
        resumed = channel.events(0)  # however far behind one begins
        assert [await anext(resumed) for _ in range(13)][-1]
        await resumed.aclose()


async def test_sound_has_no_holes_who_is_late_for_it_is_sent_away(
    stage: Stage, a_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio, "MOST_AUDIO", 5)
    bot = await stage.bot()
    async with a_hub.channel(await stage.row(bot)) as channel:
        slow, heard = channel.audio(), asyncio.Queue[bytes]()
        first = asyncio.ensure_future(anext(slow))
        await asyncio.sleep(0)
        other = await feeds.hear_audio(stage.room.bus, bot["id"], heard.put_nowait)
        await feeds.EventPublisher(stage.room.bus).audio(bot["id"], b"\x00")
        assert await first == b"\x00"
        for number in range(1, 9):
            await feeds.EventPublisher(stage.room.bus).audio(bot["id"], bytes([number]))
        while (await heard.get()) != b"\x08":
            pass
        assert [await anext(slow) for _ in range(5)] == [bytes([number]) for number in range(1, 6)]
        assert await anext(slow) == TOO_SLOW
        await slow.aclose()
        await other.close()


async def test_one_channel_serves_all_and_who_is_back_soon(stage: Stage, a_hub: Hub) -> None:
    """Who follows by requests leaves after each: the whole meeting was read anew for every one of them."""
    row = await stage.row(await stage.bot())
    channels: list[Channel] = []
    async with a_hub.channel(row) as one, a_hub.channel(row) as other:
        channels += [one, other]
    async with a_hub.channel(row) as again:
        assert channels[0] is channels[1] is again
    stage.clock.advance(hub.WARM_S)
    async with a_hub.channel(row) as later:
        assert later is not again


async def test_the_channel_that_waits_longest_goes_where_too_many_wait(
    stage: Stage, a_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [await stage.bot() for _ in range(3)]
    for bot in bots:
        await stage.tell(bot, {"type": "start"})
    rows, opened = [await stage.row(bot) for bot in bots], list[Channel]()
    monkeypatch.setattr(hub, "MOST_WARM_BYTES", 10_000)
    for place in (0, 1, 0):
        async with a_hub.channel(rows[place]) as channel:
            opened.append(channel)
        stage.clock.advance(1)
    monkeypatch.setattr(hub, "MOST_WARM_BYTES", 2 * opened[0].size)
    for place in (2, 0, 1):
        async with a_hub.channel(rows[place]) as channel:
            opened.append(channel)
        stage.clock.advance(1)
    assert opened[0] is opened[2] is opened[4], "it was asked for last"
    assert opened[1] is not opened[5]
