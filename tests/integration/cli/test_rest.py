"""A worker that rests between jobs, as `serve` sees it: a real message server, and roles that only count."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from uuid import uuid4

import pytest

from harness.nats import Connections, NatsServer
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import Heartbeats, beating, hearing, is_resting
from sederunt.bus.tasks import end
from sederunt.cli import rest
from sederunt.cli.rest import rest_while_idle

IDLE_S = 0.4


class Roles:
    """One worker, played by this process: `changed` is set with every rest and every wake."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.changed = asyncio.Event()
        self.replaced_by: int | None = None
        self._is_up = True

    def pids(self) -> dict[str, int | None]:
        return {"worker": os.getpid() if self._is_up else self.replaced_by}

    async def rest(self, name: str, within_s: float) -> None:
        self._say("rest", is_up=False)

    async def wake(self, name: str) -> bool:
        if not self._is_up:
            self._say("wake", is_up=True)
        return True

    def _say(self, what: str, *, is_up: bool) -> None:
        self._is_up = is_up
        self.said.append(what)
        self.changed.set()

    async def until(self, *said: str) -> None:
        async with asyncio.timeout(60):
            while self.said != list(said):
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "LOOK_EVERY_S", 0.3)


@asynccontextmanager
async def resting(server: NatsServer, roles: Roles, *, host: bool = True) -> AsyncIterator[None]:
    bus = await Bus.connect(server.settings(), name="host")
    watching = asyncio.create_task(rest_while_idle(roles, server.settings(), IDLE_S, 5))
    try:
        async with beating(bus, "host", "h", facts) if host else nullcontext():
            yield
    finally:
        await end(watching)
        await bus.close()


async def facts() -> dict[str, object]:
    return {"parts": {"speech": "ok"}, "tested_at": "2026-11-27T12:00:00Z"}


async def until_no_worker_is_told_as_resting(heartbeats: Heartbeats) -> None:
    async with asyncio.timeout(30):
        while any(map(is_resting, heartbeats.living("worker"))):  # noqa: ASYNC110  # heard, no event
            await asyncio.sleep(0.05)


async def publish(bus: Bus, kind: str) -> str:
    id_ = str(uuid4())
    await bus.publish_job(kind, id_, json.dumps({"id": id_, "resource": "bot"}).encode(), id_)
    return id_


@pytest.mark.parametrize("kind", ["attend", "deliver", "transcribe"])
async def test_any_job_wakes_a_worker_that_rests(server: NatsServer, connect: Connections, kind: str) -> None:
    roles, bus = Roles(), await connect()
    async with hearing(bus) as heartbeats, beating(bus, "worker", "w", facts), resting(server, roles):
        await roles.until("rest")
        async with asyncio.timeout(30):
            while not (told := [each for each in heartbeats.living("worker") if is_resting(each)]):  # noqa: ASYNC110  # heard
                await asyncio.sleep(0.05)
        assert (told[0].name, told[0].facts["parts"]) == ("w", {"speech": "ok"})
        await publish(bus, kind)
        await roles.until("rest", "wake")
        await until_no_worker_is_told_as_resting(heartbeats)
        await asyncio.sleep(4 * IDLE_S)
        assert roles.said == ["rest", "wake"], "the job is still there"


async def test_a_worker_that_says_nothing_yet_does_not_rest(server: NatsServer, connect: Connections) -> None:
    roles, bus = Roles(), await connect()
    async with resting(server, roles):
        await asyncio.sleep(4 * IDLE_S)
        assert roles.said == []
        async with beating(bus, "worker", "w", facts):
            await roles.until("rest")


async def test_a_worker_with_a_fault_goes_on_testing_until_it_is_well(server: NatsServer, connect: Connections) -> None:
    """At rest nobody would test, and the fault would be told for hours after it has gone."""
    roles, bus, word = Roles(), await connect(), "away"

    async def told() -> dict[str, object]:
        return {"parts": {"database": "ok", "storage": word}}

    async with beating(bus, "worker", "w", told), resting(server, roles):
        await asyncio.sleep(4 * IDLE_S)
        assert roles.said == []
        word = "ok"
        await roles.until("rest")


@pytest.mark.usefixtures("looks_often")
async def test_it_rests_where_a_host_stands_in_and_no_longer(
    server: NatsServer, connect: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "HOSTLESS_S", 0.5)
    roles, bus = Roles(), await connect()
    async with beating(bus, "worker", "w", facts), resting(server, roles, host=False):
        await asyncio.sleep(4 * IDLE_S)
        assert roles.said == []
        async with beating(bus, "host", "h", facts):
            await roles.until("rest")
        await roles.until("rest", "wake")
        await asyncio.sleep(4 * IDLE_S)
        assert roles.said == ["rest", "wake"]


@pytest.mark.usefixtures("looks_often")
async def test_a_worker_that_a_reload_started_speaks_for_itself(server: NatsServer, connect: Connections) -> None:
    roles, bus = Roles(), await connect()
    async with hearing(bus) as heartbeats, beating(bus, "worker", "w", facts), resting(server, roles):
        await roles.until("rest")
        roles.replaced_by = 1
        await roles.until("rest", "wake")
        await until_no_worker_is_told_as_resting(heartbeats)


@pytest.mark.usefixtures("looks_often")
async def test_what_was_published_while_nobody_listened_wakes_it(
    server: NatsServer, connect: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "ALL_JOBS", "nothing.of.this")
    roles, bus = Roles(), await connect()
    async with beating(bus, "worker", "w", facts), resting(server, roles):
        await roles.until("rest")
        await publish(bus, "deliver")
        await roles.until("rest", "wake")


@pytest.mark.usefixtures("looks_often")
async def test_it_is_started_now_and_then_without_a_job(
    server: NatsServer, connect: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "LONGEST_REST_S", 0.5)
    roles, bus = Roles(), await connect()
    async with beating(bus, "worker", "w", facts), resting(server, roles):
        await roles.until("rest", "wake", "rest")


@pytest.mark.usefixtures("looks_often")
async def test_it_is_up_while_queues_cannot_be_asked(
    server: NatsServer, connect: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "AGAIN_S", 0.1)
    roles, bus = Roles(), await connect()
    async with beating(bus, "worker", "w", facts), resting(server, roles):
        await roles.until("rest")
        await server.stop()
        await roles.until("rest", "wake")
        await server.start()
        await roles.until("rest", "wake", "rest")
