"""From the outbox to a real nats-server, through crashes of whoever should publish."""

import asyncio
import json
from collections.abc import Callable, Sequence

from nats.js.api import StreamState

from harness.nats import NatsServer
from sederunt.bus import feeds
from sederunt.bus.connection import Bus
from sederunt.bus.streams import QUEUES
from sederunt.bus.tasks import end
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.outbox import Outbox
from sederunt.jobs.publish import Publisher, sweep
from sederunt.model.bot import Bot
from sederunt.model.status import Trigger

MakeBot = Callable[..., Bot]


async def queue_state(bus: Bus, kind: str) -> StreamState:
    return (await bus.js.stream_info(QUEUES[kind].stream)).state


async def test_what_a_crash_left_between_commit_and_publishing_is_published_once_by_the_sweep(
    bus: Bus, bots: Bots, outbox: Outbox, make_bot: MakeBot
) -> None:
    bot = await bots.create(make_bot())
    assert await bus.queued("attend") == frozenset()
    sent = await asyncio.gather(*(sweep(bus, outbox, older_than_s=0) for _ in range(3)))
    assert max(sent) == 1
    assert (await queue_state(bus, "attend")).last_seq == 1
    assert await bus.queued("attend") == {str(bot.id)}
    assert await outbox.unsent() == []


async def test_a_crash_between_publishing_and_its_mark_publishes_nothing_twice(
    bus: Bus, bots: Bots, outbox: Outbox, make_bot: MakeBot
) -> None:
    await bots.create(make_bot())
    rows = await outbox.unsent()
    publisher = Publisher(bus)
    publisher.announce(rows)
    await publisher.flush(outbox)
    for row in rows:  # the mark was lost: the row is there again
        await bus.publish_job("attend", json.loads(row.payload)["id"], row.payload, row.message_id)
    assert (await queue_state(bus, "attend")).last_seq == 1


async def test_a_bots_events_reach_its_feed_in_order_through_an_outage(
    bus: Bus, server: NatsServer, database: Database, bots: Bots, outbox: Outbox, make_bot: MakeBot
) -> None:
    publisher = Publisher(bus)
    database.on_outbox = publisher.announce
    publishing = asyncio.create_task(publisher.run(outbox))
    bot = await bots.create(make_bot())
    await bots.record_transition(bot.id, Trigger.LAUNCHED)
    await server.stop()
    await bots.record_transition(bot.id, Trigger.ADMITTED)
    await bots.record_transition(bot.id, Trigger.ENDED)
    await server.start()
    await bots.record_transition(bot.id, Trigger.LEFT)
    heard = []
    async with asyncio.timeout(60):
        async for event in feeds.events(bus, bot.id, since=0):
            heard.append(event.event.get("data", {}).get("new_status", event.event["type"]))
            if len(heard) == 6:
                break
    assert heard == ["joining", "recording", "start", "leaving", "processing", "stop"]
    await end(publishing)
    await publisher.flush(outbox)
    assert await bus.queued("assemble") == {str(bot.id)}


class SlowOutbox(Outbox):
    """A database that takes its time over one update."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def mark_sent(self, ids: Sequence[int]) -> None:
        self.begun.set()
        await self.go_on.wait()
        await super().mark_sent(ids)


async def test_a_publisher_that_is_ended_while_it_notes_what_was_sent_ends_after_it(
    bus: Bus, database: Database, bots: Bots, make_bot: MakeBot
) -> None:
    publisher, outbox = Publisher(bus), SlowOutbox(database)
    database.on_outbox = publisher.announce
    publishing = asyncio.create_task(publisher.run(outbox))
    await bots.create(make_bot())
    await outbox.begun.wait()
    await end(publishing)
    flushing = asyncio.create_task(publisher.flush(outbox))
    outbox.go_on.set()
    await flushing
    assert await outbox.unsent() == []
