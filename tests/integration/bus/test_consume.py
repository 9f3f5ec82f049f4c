"""Jobs on a real nats-server: given out once, kept through outages, given to another when a holder dies."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
from nats.js.api import ConsumerInfo

from harness.nats import Connections, NatsServer
from sederunt.bus import consume
from sederunt.bus.connection import Bus
from sederunt.bus.consume import Consumer
from sederunt.bus.held_job import Done, JobDelivery, Leave, Outcome, Redeliver
from sederunt.bus.silent_holder import ASK_S, ask
from sederunt.bus.silent_holder import Holder as Holding
from sederunt.bus.streams import QUEUES, held_subject

# Of a busy machine's stalls the longest are seconds; a holder who is asleep for two of these is told so.
ACK_WAIT_S = 6.0


class Tally:
    """What all holders of a test were given, and a way to wait for the next."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self._changed = asyncio.Condition()

    async def add(self, resource_id: str) -> None:
        async with self._changed:
            self.given.append(resource_id)
            self._changed.notify_all()

    async def reach(self, count: int, within_s: float = 60) -> None:
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(lambda: len(self.given) >= count)


class Holder:
    """A consumer whose jobs run until the test lets them end."""

    def __init__(self, bus: Bus, tally: Tally, *, kind: str = "attend", outcome: Outcome | None = None) -> None:
        self.let_go = asyncio.Event()
        self.deliveries: list[JobDelivery] = []
        self.outcome: Outcome = outcome or Done()
        self._tally, self.bus = tally, bus
        self.consumer = Consumer(bus, kind, self._work, slots=4)
        self.task = asyncio.create_task(self.consumer.run())

    async def _work(self, delivery: JobDelivery) -> Outcome:
        self.deliveries.append(delivery)
        await self._tally.add(str(delivery.message["id"]))
        await self.let_go.wait()
        return self.outcome

    async def close(self) -> None:
        self.let_go.set()
        await self.consumer.drain(5)
        await self.task


@pytest.fixture
def tally() -> Tally:
    return Tally()


async def publish(bus: Bus, *, kind: str = "attend", resource_id: str | None = None) -> str:
    resource_id = resource_id or str(uuid4())
    await bus.publish_job(kind, resource_id, json.dumps({"id": resource_id}).encode(), str(uuid4()))
    return resource_id


async def until_empty(bus: Bus, kind: str = "attend") -> None:
    """The server has no event for an empty queue."""
    async with asyncio.timeout(60):
        while await bus.queued(kind):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def nothing_more(seconds: float) -> None:
    """The thing proved is that nothing happens in this time."""
    await asyncio.sleep(seconds)


async def test_a_job_goes_to_one_holder_and_is_gone_when_it_is_done(connect: Connections, tally: Tally) -> None:
    bus = await connect()
    holders = [Holder(bus, tally), Holder(await connect(), tally)]
    ids = sorted([await publish(bus) for _ in range(6)])
    for holder in holders:
        holder.let_go.set()
    await until_empty(bus)
    assert sorted(tally.given) == ids
    for holder in holders:
        await holder.close()


async def test_a_message_id_is_stored_once(bus: Bus) -> None:
    resource_id = str(uuid4())
    payload = json.dumps({"id": resource_id}).encode()
    assert await bus.publish_job("assemble", resource_id, payload, "one")
    assert not await bus.publish_job("assemble", resource_id, payload, "one")
    assert await bus.queued("assemble") == {resource_id}


async def test_a_resource_has_at_most_one_delivery_job(bus: Bus) -> None:
    resource_id = str(uuid4())
    payload = json.dumps({"id": resource_id}).encode()
    assert await bus.publish_job("deliver", resource_id, payload, "one")
    assert not await bus.publish_job("deliver", resource_id, payload, "two")
    assert await bus.queued("deliver") == {resource_id}


async def test_a_job_outlasts_ack_waits_while_its_holder_lives(connect: Connections, tally: Tally) -> None:
    bus = await connect(ack_wait_s=ACK_WAIT_S)
    holders = [Holder(bus, tally), Holder(await connect(ack_wait_s=ACK_WAIT_S), tally)]
    await publish(bus)
    await tally.reach(1)
    await nothing_more(2.5 * ACK_WAIT_S)
    assert len(tally.given) == 1
    for holder in holders:
        await holder.close()
    await until_empty(bus)


@pytest.mark.parametrize("away_s", [0.1, 1.5 * ACK_WAIT_S])
async def test_a_killed_server_gives_no_live_job_out_twice(
    server: NatsServer, connect: Connections, tally: Tally, away_s: float
) -> None:
    """The kill comes right after the jobs were given out, which the server then does not remember."""
    bus = await connect(ack_wait_s=ACK_WAIT_S)
    holders = [Holder(bus, tally), Holder(await connect(ack_wait_s=ACK_WAIT_S), tally)]
    ids = [await publish(bus) for _ in range(4)]
    await tally.reach(4)
    await server.stop()
    await nothing_more(away_s)
    await server.start()
    ids.append(await publish(bus))
    await tally.reach(5)
    await nothing_more(1.5 * ACK_WAIT_S)
    assert sorted(tally.given) == sorted(ids)
    assert not any(delivery.cut_off.is_set() for holder in holders for delivery in holder.deliveries)
    for holder in holders:
        await holder.close()
    await until_empty(bus)


async def test_a_job_that_is_handed_back_is_given_out_again_after_its_pause(bus: Bus, tally: Tally) -> None:
    holder = Holder(bus, tally, outcome=Redeliver(0.5))
    await publish(bus)
    await tally.reach(1)
    holder.let_go.set()
    await tally.reach(2)
    holder.outcome = Done()
    await until_empty(bus)
    assert holder.deliveries[1].delivered > holder.deliveries[0].delivered
    await holder.close()


def held_up(bus: Bus, call: str, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Hold up a call of the bus: (it was made, it may go on)."""
    made, go_on = asyncio.Event(), asyncio.Event()
    real = getattr(bus, call)

    async def held(*asked: Any, **options: Any) -> Any:
        made.set()
        await go_on.wait()
        return await real(*asked, **options)

    monkeypatch.setattr(bus, call, held)
    return made, go_on


async def begin_to_drain(holder: Holder) -> "asyncio.Task[int]":
    draining = asyncio.create_task(holder.consumer.drain(60))
    await asyncio.sleep(0)  # it has begun
    return draining


async def test_what_does_not_end_while_draining_is_handed_back_at_once(connect: Connections, tally: Tally) -> None:
    bus = await connect(ack_wait_s=150)
    holder = Holder(bus, tally)
    resource_id = await publish(bus)
    await tally.reach(1)
    assert await holder.consumer.drain(0.1) == 1
    await holder.task
    other = Holder(await connect(ack_wait_s=150), tally)
    await tally.reach(2)  # long before the ack wait is over
    assert tally.given == [resource_id] * 2
    await other.close()
    await until_empty(bus)


async def until_server_says(bus: Bus, what: Callable[[ConsumerInfo], bool]) -> None:
    """It sends no event for what it knows of a queue's holders."""
    queue = QUEUES["attend"]
    async with asyncio.timeout(60):
        while not what(await bus.js.consumer_info(queue.stream, queue.kind)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def hard_of_hearing(bus: Bus, until: Callable[[], Awaitable[object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's confirmations reach this one late: what they set going is done by then."""
    real = bus.confirm

    async def confirm(*told: Any, **options: Any) -> bool:
        confirmed = await real(*told, **options)
        await until()
        return confirmed

    monkeypatch.setattr(bus, "confirm", confirm)


async def test_who_waits_for_a_job_gets_at_once_what_another_hands_back(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, other_bus = await connect(ack_wait_s=150), await connect(ack_wait_s=150)
    holder = Holder(bus, tally)
    resource_id = await publish(bus)
    await tally.reach(1)
    other = Holder(other_bus, tally)
    await until_server_says(bus, lambda info: info.num_waiting == 2)  # one question of each holder
    asked = answered_once(other_bus, "request", monkeypatch)
    hard_of_hearing(bus, asked.wait, monkeypatch)
    assert await holder.consumer.drain(0.1) == 1
    await tally.reach(2, within_s=30)  # long before the ack wait is over
    assert tally.given == [resource_id] * 2
    await other.close()
    await until_empty(other_bus)


def answered_once(bus: Bus, call: str, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a call of the bus has had its answer, whatever that was."""
    answered = asyncio.Event()
    real = getattr(bus, call)

    async def noted(*asked: Any, **options: Any) -> Any:
        try:
            return await real(*asked, **options)
        finally:
            answered.set()

    monkeypatch.setattr(bus, call, noted)
    return answered


async def test_a_job_that_comes_back_to_who_has_just_handed_it_back_is_worked_on(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, watching = await connect(ack_wait_s=150), await connect(ack_wait_s=150)
    holder = Holder(bus, tally, outcome=Redeliver())
    await publish(bus)
    await tally.reach(1)
    await until_server_says(watching, lambda info: info.num_waiting == 1)  # the holder's own next question

    async def given_back() -> None:
        await until_server_says(watching, lambda info: info.delivered is not None and info.delivered.consumer_seq > 1)
        await bus.flush()

    hard_of_hearing(bus, given_back, monkeypatch)
    holder.let_go.set()
    await tally.reach(2, within_s=30)  # long before the ack wait is over
    holder.outcome = Done()
    await until_empty(watching)
    await holder.close()


async def test_what_is_finished_while_the_server_is_killed_is_not_done_again(
    server: NatsServer, connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, other_bus = await connect(ack_wait_s=ACK_WAIT_S), await connect(ack_wait_s=ACK_WAIT_S)
    holder = Holder(bus, tally)
    begun, go_on = held_up(bus, "confirm", monkeypatch)
    ids = [await publish(bus)]
    await tally.reach(1)
    await server.stop()  # it does not remember to whom it gave the job
    holder.let_go.set()
    await begun.wait()  # to tell the server that the job is done
    other = Holder(other_bus, tally)
    await server.start()
    ids.append(await publish(other_bus))
    await tally.reach(2)
    await nothing_more(1.5 * ACK_WAIT_S)
    go_on.set()
    assert sorted(tally.given) == sorted(ids)
    other.let_go.set()
    await until_empty(other_bus)
    for one in (holder, other):
        await one.close()


async def test_a_job_that_comes_to_a_holder_who_begins_to_drain_is_given_to_another_at_once(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, other_bus = await connect(ack_wait_s=150), await connect(ack_wait_s=150)
    holder = Holder(bus, tally)
    begun, go_on = held_up(bus, "request", monkeypatch)
    resource_id = await publish(other_bus)
    await begun.wait()  # to ask whether somebody holds the job
    draining = await begin_to_drain(holder)
    go_on.set()
    assert await draining == 0
    await holder.task
    other = Holder(other_bus, tally)
    await tally.reach(1)  # long before the ack wait is over
    assert (tally.given, holder.deliveries) == ([resource_id], [])
    await other.close()
    await until_empty(other_bus)


async def test_a_job_that_begins_while_its_holder_drains_is_worked_on_to_its_end(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus, other_bus = await connect(ack_wait_s=150), await connect(ack_wait_s=150)
    holder = Holder(bus, tally)
    ids = [await publish(other_bus)]
    await tally.reach(1)
    begun, go_on = held_up(bus, "flush", monkeypatch)
    ids.append(await publish(other_bus))
    await begun.wait()  # to answer for the second job
    draining = await begin_to_drain(holder)
    go_on.set()
    holder.let_go.set()
    assert await draining == 0
    assert holder.consumer.held == 0
    assert tally.given == ids
    await until_empty(other_bus)


async def test_a_second_job_for_a_resource_waits_while_the_first_is_at_work_elsewhere(
    connect: Connections, tally: Tally
) -> None:
    bus = await connect()
    holders = [Holder(bus, tally), Holder(await connect(), tally)]
    resource_id = await publish(bus)
    await tally.reach(1)
    await publish(bus, resource_id=resource_id)
    await nothing_more(2)
    assert tally.given == [resource_id]
    for holder in holders:
        holder.let_go.set()
    await tally.reach(2)
    for holder in holders:
        await holder.close()
    await until_empty(bus)


async def test_a_job_that_had_to_wait_for_another_of_its_resource_was_not_tried_meanwhile(
    connect: Connections, tally: Tally
) -> None:
    bus = await connect()
    holder = Holder(bus, tally)
    resource_id = await publish(bus)
    await tally.reach(1)
    await publish(bus, resource_id=resource_id)
    await until_server_says(bus, lambda info: info.delivered is not None and info.delivered.consumer_seq > 1)
    await bus.flush()
    holder.let_go.set()
    await tally.reach(2)
    assert [delivery.delivered for delivery in holder.deliveries] == [1, 1]
    await holder.close()
    await until_empty(bus)


async def test_a_holder_cut_off_from_a_remote_server_for_two_ack_waits_is_told(
    server: NatsServer, tally: Tally
) -> None:
    """Spelled like this, loopback is not known to be this machine."""
    elsewhere = server.settings(ack_wait_s=1.5).model_copy(
        update={"url": server.embedded.url.replace("127.0.0.1", "127.1")}
    )
    bus = await Bus.connect(elsewhere, name="far")
    holder = Holder(bus, tally)
    await publish(bus)
    await tally.reach(1)
    await server.stop()
    async with asyncio.timeout(60):
        await holder.deliveries[0].cut_off.wait()
    await bus.close()
    holder.let_go.set()
    holder.task.cancel()


async def far(server: NatsServer, name: str) -> Bus:
    """Connect by an address that is not known to be this machine, as to a server elsewhere."""
    address = server.embedded.url.replace("127.0.0.1", "127.1")
    return await Bus.connect(server.settings(ACK_WAIT_S).model_copy(update={"url": address}), name=name)


class NoPower:
    """Nothing that this process says leaves it any more; its connection stays open for the server."""

    def __init__(self, bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
        self._back = asyncio.Event()
        for call in ("tell", "confirm"):
            monkeypatch.setattr(bus, call, self._kept_back(getattr(bus, call)))

    def end(self) -> None:
        self._back.set()

    def _kept_back(self, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*told: Any, within_s: float = 0, **options: Any) -> Any:
            if self._back.is_set():
                return await real(*told, **options, **({"within_s": within_s} if within_s else {}))
            await asyncio.sleep(within_s)
            return False

        return call


async def test_a_job_of_a_holder_without_power_is_taken_once_that_one_would_have_left(
    server: NatsServer, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_bus, other_bus = await far(server, "lost"), await far(server, "other")
    lost = Holder(lost_bus, tally, outcome=Leave())
    resource_id = await publish(other_bus)
    await tally.reach(1)
    await until_server_says(other_bus, lambda info: info.num_waiting == 1)  # its question for one more
    no_power = NoPower(lost_bus, monkeypatch)
    other = Holder(other_bus, tally)
    await tally.reach(2)
    assert tally.given == [resource_id] * 2
    assert lost.deliveries[0].cut_off.is_set()
    no_power.end()
    lost.let_go.set()
    await asyncio.wait({held.task for held in lost.consumer._held.values()})
    still_queued = await other_bus.queued("attend")
    other.let_go.set()
    await until_empty(other_bus)
    await other.close()
    lost.task.cancel()
    for bus in (lost_bus, other_bus):
        await bus.close()
    assert still_queued == {resource_id}, "the one before says nothing of it"


async def test_a_job_whose_holder_answers_again_in_time_stays_where_it_is(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_bus, other_bus = await connect(ack_wait_s=ACK_WAIT_S), await connect(ack_wait_s=ACK_WAIT_S)
    lost = Holder(lost_bus, tally)
    await publish(other_bus)
    await tally.reach(1)
    no_power = NoPower(lost_bus, monkeypatch)
    asked = answered_once(other_bus, "request", monkeypatch)
    other = Holder(other_bus, tally)
    await asked.wait()  # in vain
    assert other.consumer.held <= 1
    no_power.end()
    await nothing_more(2.5 * ACK_WAIT_S)
    assert len(tally.given) == 1
    for holder in (lost, other):
        await holder.close()
    await until_empty(other_bus)


async def test_a_job_that_is_offered_begins_beside_its_holder_who_settles_it_no_more(
    server: NatsServer, connect: Connections, tally: Tally
) -> None:
    draining = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="old"), tally)
    job = await publish(draining.bus)
    await tally.reach(1)
    others = asyncio.Event()
    drain = asyncio.create_task(draining.consumer.drain(60, others=others.is_set))
    taker = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="new"), tally)
    await nothing_more(0.5)
    assert tally.given == [job], "it is nobody else's before it is offered"
    others.set()
    await tally.reach(2)
    assert [delivery.beside for delivery in (*draining.deliveries, *taker.deliveries)] == [False, True]
    assert draining.consumer.held == 1, "the old holder works on"
    draining.let_go.set()
    assert await drain == 0
    assert await taker.bus.queued("attend") == {job}, "what becomes of it is the new holder's business"
    await taker.close()
    await until_empty(taker.bus)


async def test_jobs_are_offered_one_after_another(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: 20 bots that were offered at once entered beside each other on two cores, and their pages broke."""
    monkeypatch.setattr(consume, "OFFER_EVERY_S", 2.0)
    loop = asyncio.get_running_loop()
    draining = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="old"), tally)
    jobs = {await publish(draining.bus), await publish(draining.bus)}
    await tally.reach(2)
    taker = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="new"), tally)
    began = loop.time()
    drain = asyncio.create_task(draining.consumer.drain(60, others=lambda: True))
    await tally.reach(4)
    assert loop.time() - began >= 2.0, "the second waits for its turn"
    assert {str(delivery.message["id"]) for delivery in taker.deliveries if delivery.beside} == jobs
    draining.let_go.set()
    assert await drain == 0
    await taker.close()
    await until_empty(taker.bus)


async def test_a_holder_that_answers_late_is_no_dead_one(
    connect: Connections, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen on a machine at a load of 20: a host that handed its bots over was taken for lost, and each had a gap."""
    draining = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="old"), tally)
    await publish(draining.bus)
    await tally.reach(1)
    told = draining.bus.tell

    async def tell_late(*said: Any, **options: Any) -> None:
        await asyncio.sleep(2 * ASK_S)
        await told(*said, **options)

    monkeypatch.setattr(draining.bus, "tell", tell_late)
    drain = asyncio.create_task(draining.consumer.drain(60, others=lambda: True))
    taker = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="new"), tally)
    await tally.reach(2)
    assert [delivery.beside for delivery in taker.deliveries] == [True]
    draining.let_go.set()
    assert await drain == 0
    await taker.close()
    await until_empty(taker.bus)


async def test_an_offer_is_for_one_at_a_time(server: NatsServer, connect: Connections, tally: Tally) -> None:
    draining = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="old"), tally)
    job = await publish(draining.bus)
    await tally.reach(1)
    drain = asyncio.create_task(draining.consumer.drain(60, others=lambda: True))
    bus = await connect(ack_wait_s=ACK_WAIT_S)
    subject = held_subject("attend", job)
    async with asyncio.timeout(30):
        while await ask(bus, subject, {"sequence": 0, "handle": "first"}) is not Holding.HANDING_OVER:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert await ask(bus, subject, {"sequence": 0, "handle": "second"}) is Holding.BUSY
    assert await ask(bus, subject, {"sequence": 0, "handle": "first"}) is Holding.HANDING_OVER
    draining.let_go.set()
    await drain


async def test_a_drain_in_favour_of_a_successor_offers_at_once_and_is_cut_short_where_that_one_ends_too(
    server: NatsServer, connect: Connections, tally: Tally
) -> None:
    draining = Holder(await connect(ack_wait_s=ACK_WAIT_S, name="old"), tally)
    job = await publish(draining.bus)
    await tally.reach(1)
    asked, cut_short = asyncio.Event(), asyncio.Event()

    def others() -> bool:
        asked.set()
        return False

    drain = asyncio.create_task(draining.consumer.drain(3600, others=others, offer_after_s=0.0, cut_short=cut_short))
    async with asyncio.timeout(60):
        await asked.wait()
        cut_short.set()
        assert await drain == 1
    assert await draining.bus.queued("attend") == {job}, "handed back"
