"""Feeds on a real nats-server: everything once, in order, through a restart of the server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from uuid import uuid4

import pytest

from harness.nats import Connections, NatsServer
from sederunt.bus import feeds
from sederunt.bus.connection import Bus
from sederunt.bus.tasks import end


@pytest.fixture
async def publisher(bus: Bus) -> AsyncIterator[feeds.EventPublisher]:
    events = feeds.EventPublisher(bus)
    task = asyncio.create_task(events.run())
    yield events
    await end(task)


async def read(bus: Bus, bot_id: str, count: int, since: int | None = 0) -> list[feeds.FeedEvent]:
    async with asyncio.timeout(60), aclosing(feeds.events(bus, bot_id, since=since)) as listening:
        found = []
        async for event in listening:
            found.append(event)
            if len(found) == count:
                break
    return found


async def test_a_listener_reads_what_was_before_it_came_and_what_comes_after(
    connect: Connections, publisher: feeds.EventPublisher
) -> None:
    bot_id = str(uuid4())
    for n in range(5):
        publisher.put(bot_id, {"n": n})
    await publisher.flush()
    reading = asyncio.create_task(read(await connect(), bot_id, 10))
    for n in range(5, 10):
        publisher.put(bot_id, {"n": n})
        await asyncio.sleep(0)
    found = await reading
    assert [event.event["n"] for event in found] == list(range(10))
    sequences = [event.sequence for event in found]
    assert sequences == sorted(set(sequences))


async def test_a_listener_resumes_by_sequence(bus: Bus, publisher: feeds.EventPublisher) -> None:
    bot_id, other = str(uuid4()), str(uuid4())
    for n in range(6):
        publisher.put(bot_id, {"n": n})
        publisher.put(other, {"n": -n})
    first = await read(bus, bot_id, 3)
    rest = await read(bus, bot_id, 3, since=first[-1].sequence)
    assert [event.event["n"] for event in [*first, *rest]] == list(range(6))


async def test_a_message_id_is_heard_once(bus: Bus, publisher: feeds.EventPublisher) -> None:
    bot_id = str(uuid4())
    for _ in range(3):
        publisher.put(bot_id, {"n": 0}, "same")
    publisher.put(bot_id, {"n": 1})
    assert [event.event["n"] for event in await read(bus, bot_id, 2)] == [0, 1]


async def test_nothing_is_missed_and_nothing_comes_twice_when_the_server_is_killed(
    server: NatsServer, connect: Connections, publisher: feeds.EventPublisher
) -> None:
    bot_id = str(uuid4())
    reading = asyncio.create_task(read(await connect(), bot_id, 30))
    for n in range(10):
        publisher.put(bot_id, {"n": n})
    await publisher.flush()
    await server.stop()
    for n in range(10, 20):
        publisher.put(bot_id, {"n": n})
    await server.start()
    for n in range(20, 30):
        publisher.put(bot_id, {"n": n})
    assert [event.event["n"] for event in await reading] == list(range(30))


async def test_thousands_of_events_are_caught_up_with_in_order(bus: Bus, publisher: feeds.EventPublisher) -> None:
    bot_id, other = str(uuid4()), str(uuid4())
    count = 2 * feeds.BATCH + 3
    for n in range(count):
        await bus.tell(f"feed.{bot_id}.events", b'{"n": %d}' % n)
        await bus.tell(f"feed.{other}.events", b"{}")
    publisher.put(bot_id, {"n": count})
    await publisher.flush()
    assert [event.event["n"] for event in await read(bus, bot_id, count + 1)] == list(range(count + 1))


async def test_audio_and_drafts_reach_who_listens_now(bus: Bus, connect: Connections) -> None:
    bot_id = str(uuid4())
    heard: list[object] = []
    some = asyncio.Event()

    def take(block: object) -> None:
        heard.append(block)
        if len(heard) == 2:
            some.set()

    listener = await connect()
    await feeds.hear_audio(listener, bot_id, take)
    await feeds.hear_drafts(listener, bot_id, take)
    await feeds.EventPublisher(bus).audio(bot_id, b"\x01\x02")
    await feeds.EventPublisher(bus).draft(bot_id, {"type": "ts-draft", "data": {"transcript": "grüezi"}})
    async with asyncio.timeout(60):
        await some.wait()
    assert b"\x01\x02" in heard
    assert {"type": "ts-draft", "data": {"transcript": "grüezi"}} in heard
