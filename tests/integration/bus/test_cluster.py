"""Three message servers of which one is killed: what is held stays held, and what comes is taken."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from nats.errors import Error as NatsError
from pydantic import SecretStr

from harness.ports import free_ports
from sederunt.bus.connection import Bus, BusAway
from sederunt.bus.consume import Consumer
from sederunt.bus.embedded import OLDEST_SERVER, find_server
from sederunt.bus.held_job import Done, JobDelivery, Outcome
from sederunt.bus.lease_timing import broken_promises, facts_of
from sederunt.bus.streams import QUEUES
from sederunt.bus.tasks import end
from sederunt.settings import BusSettings

NODES = 3
# A cluster that lost its leader answers nobody for some seconds, and more on a busy machine.
ACK_WAIT_S = 12.0
TOKEN = "practice-cluster"  # of this test's own servers
CONFIG = """
server_name: node-{number}
listen: "127.0.0.1:{client}"
authorization {{ token: "{token}" }}
jetstream {{ store_dir: {store} }}
cluster {{ name: practice, listen: "127.0.0.1:{route}", routes: [{routes}] }}
"""


class Cluster:
    """Servers that know each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = free_ports(2 * NODES)
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        clients, routes = self._ports[:NODES], self._ports[NODES:]
        addresses = ", ".join(f'"nats-route://127.0.0.1:{port}"' for port in routes)
        for number, (client, route) in enumerate(zip(clients, routes, strict=True)):
            store = json.dumps(str(self._folder / f"store-{number}"))
            config = self._folder / f"node-{number}.conf"
            text = CONFIG.format(number=number, client=client, route=route, token=TOKEN, store=store, routes=addresses)
            config.write_text(text)
            with (self._folder / f"node-{number}.log").open("ab") as log:
                self.processes[f"node-{number}"] = await asyncio.create_subprocess_exec(
                    str(find_server()), "--config", str(config), stdout=log, stderr=log
                )

    def settings(self) -> BusSettings:
        url = ",".join(f"nats://127.0.0.1:{port}" for port in self._ports[:NODES])
        return BusSettings(url=url, token=SecretStr(TOKEN), ack_wait_s=ACK_WAIT_S, replicas=NODES)

    async def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        await process.wait()

    async def stop(self) -> None:
        for name in list(self.processes):
            await self.kill(name)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(tmp_path)
    await cluster.start()
    try:
        yield cluster
    finally:
        await cluster.stop()


class Hands:
    """A consumer whose jobs last until the test lets them end."""

    def __init__(self, bus: Bus) -> None:
        self.given: asyncio.Queue[str] = asyncio.Queue()
        self.let_go = asyncio.Event()
        self.consumer = Consumer(bus, "attend", self._work, slots=4)

    async def _work(self, delivery: JobDelivery) -> Outcome:
        self.given.put_nowait(str(delivery.message["id"]))
        await self.let_go.wait()
        return Done()


@asynccontextmanager
async def connected(cluster: Cluster, name: str) -> AsyncIterator[Bus]:
    bus = await Bus.connect(cluster.settings(), name=name)
    try:
        yield bus
    finally:
        await bus.close()


async def publish(bus: Bus) -> str:
    job = str(uuid4())
    async with asyncio.timeout(120):
        while True:
            try:
                await bus.publish_job("attend", job, json.dumps({"id": job}).encode(), job)
                return job
            except BusAway:  # the message has an id: a repeat is no second one
                continue


async def leader_of_queue(bus: Bus) -> str:
    info = await bus.js.stream_info(QUEUES["attend"].stream)
    assert info.cluster is not None
    return str(info.cluster.leader)


async def until_empty(bus: Bus) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                if not await bus.queued("attend"):
                    return
            except (NatsError, BusAway, TimeoutError):  # a leader is being chosen
                pass
            await asyncio.sleep(0.2)


async def test_one_server_of_three_is_killed_and_nothing_is_given_twice_or_lost(cluster: Cluster) -> None:
    async with connected(cluster, "a") as bus, connected(cluster, "b") as other:
        found = facts_of(other)
        assert (found.servers, found.ack_wait_before_s, found.version >= OLDEST_SERVER) == (NODES, ACK_WAIT_S, True)
        assert broken_promises(found) == []
        hands, others = Hands(bus), Hands(other)
        running = [asyncio.create_task(each.consumer.run()) for each in (hands, others)]
        try:
            before = {await publish(bus) for _ in range(3)}
            given = {await first_of(hands, others) for _ in before}
            assert given == before
            await cluster.kill(await leader_of_queue(bus))
            after = {await publish(other) for _ in range(3)}
            assert {await first_of(hands, others) for _ in after} == after
            for each in (hands, others):
                each.let_go.set()
            await until_empty(bus)
            assert hands.given.empty()
            assert others.given.empty(), "what was held when the server was killed was given to nobody else"
        finally:
            for each in (hands, others):
                each.let_go.set()
                await each.consumer.drain(10)
            await end(*running)


async def first_of(*consumers: Hands) -> str:
    """The next job that any of them is given."""
    waiting = [asyncio.create_task(each.given.get()) for each in consumers]
    async with asyncio.timeout(120):
        done, late = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    await end(*late)
    first, *more = done
    for each, task in zip(consumers, waiting, strict=True):
        if task in more:
            each.given.put_nowait(task.result())
    return first.result()
