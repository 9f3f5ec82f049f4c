"""End the worker of an idle `serve`, which took a third of its memory at rest, and start it again for the next job.

A worker rests when no queue has held a job for a while, given out or not, its self-tests find nothing wrong, and there
is a host, which meanwhile does the worker's periodic work (`jobs.roles`). Every published job wakes the worker, also a
bot's job for a host, so that the worker is up before the bot needs it. Messages are lost while the message server is
away, so the queues are polled, too; if they do not answer, the worker is started.

While it rests, `serve` sends its heartbeat in its place, with the result of its last self-test.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from sederunt import __version__, log
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import Heartbeat, Heartbeats, beating, faults_of, hearing
from sederunt.bus.streams import ALL_JOBS, QUEUES
from sederunt.settings import BusSettings

logger = log.get(component="cli")

WORKER = "worker"
LOOK_EVERY_S = 5.0
HOSTLESS_S = 30.0  # a host that is replaced or restarted is back by then
LONGEST_REST_S = 6 * 3600.0  # so that a fault in starting the worker is found before there is a job
CONNECTED_WITHIN_S = 60.0
AGAIN_S = 10.0  # between a watch that failed and the next


class Resting(Protocol):
    """The roles that may rest: `Supervisor`."""

    def pids(self) -> Mapping[str, int | None]:
        """Return each role's process; None while it has none."""

    async def rest(self, name: str, within_s: float) -> None:
        """Ask a role's process to end, and start no successor until `wake`."""

    async def wake(self, name: str) -> bool:
        """Start a role that rests, unless it was started already; return whether its process is ready."""


class IdleTime:
    """Counts for how long there has been no work. Pure except for the time of the last work."""

    def __init__(self, enough_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._enough_s, self._now = enough_s, now
        self._busy_at = now()

    def is_enough(self, *, busy: bool) -> bool:
        """Take one look; return whether it is time to rest."""
        if busy:
            self._busy_at = self._now()
        return self._now() - self._busy_at >= self._enough_s


async def rest_while_idle(supervisor: Resting, bus_settings: BusSettings, idle_s: float, drain_s: float) -> NoReturn:
    """End the worker whenever it has been idle for `idle_s`, and start it for the next job, for ever.

    Args:
        drain_s: how long the worker's end may take before it is killed.
    """
    is_logged = False
    while True:
        try:
            bus = await Bus.connect(bus_settings, name="rest", within_s=CONNECTED_WITHIN_S)
            try:
                async with hearing(bus) as heartbeats:
                    rest = _Rest(supervisor, bus, heartbeats, idle_s, drain_s)
                    while True:
                        await rest.once()
                        is_logged = False
            finally:
                await bus.close()
        except Exception:
            if not is_logged:
                logger.exception("nobody sees whether the worker may rest; it is up", action="rest_failed")
            is_logged = True
        await supervisor.wake(WORKER)
        await asyncio.sleep(AGAIN_S)


class _Rest:
    """The queues and the worker as one connection sees them."""

    def __init__(self, supervisor: Resting, bus: Bus, heartbeats: Heartbeats, idle_s: float, drain_s: float) -> None:
        self._supervisor, self._bus, self._heartbeats = supervisor, bus, heartbeats
        self._idle_s, self._drain_s = idle_s, drain_s
        self._look_every_s = min(LOOK_EVERY_S, idle_s / 4)
        self._published = asyncio.Event()  # set when a job is published, cleared at each look

    async def once(self) -> None:
        """Wait until the worker is idle, let it rest, and wake it. Raises BusAway."""
        hearing_jobs = await self._bus.subscribe(ALL_JOBS, self._heard)
        try:
            last_heartbeat = await self._idle()
            parts = {name: last_heartbeat.facts.get(name) for name in ("parts", "tested_at")}
            async with beating(self._bus, WORKER, last_heartbeat.name, lambda: _resting(parts)):
                await self._supervisor.rest(WORKER, self._drain_s)
                logger.info("the worker rests until there is a job", action="worker_rests")
                await self._wanted(last_heartbeat.pid)
                logger.info("the worker is started", action="worker_woken")
                await self._supervisor.wake(WORKER)
        finally:
            await hearing_jobs.close()

    async def _heard(self, _message: object) -> None:
        self._published.set()

    async def _idle(self) -> Heartbeat:
        """Wait until the worker may rest; return its last heartbeat."""
        idle_time = IdleTime(self._idle_s)
        while True:
            await asyncio.sleep(self._look_every_s)
            is_published = self._published.is_set()
            self._published.clear()
            is_busy = is_published or await self._is_a_job_queued() or not self._heartbeats.living("host")
            pid = self._supervisor.pids().get(WORKER)
            heartbeat = next((candidate for candidate in self._heartbeats.living(WORKER) if candidate.pid == pid), None)
            is_well = heartbeat is not None and not faults_of(heartbeat)
            if (
                idle_time.is_enough(busy=is_busy or not is_well)
                and heartbeat is not None
                and not self._published.is_set()
            ):
                return heartbeat

    async def _wanted(self, previous_pid: int) -> None:
        """Wait until there is a job, or another reason for a worker.

        Args:
            previous_pid: the process that has been asked to rest.
        """
        started_at = host_seen_at = time.monotonic()
        while not self._published.is_set() and not await self._is_a_job_queued():
            now = time.monotonic()
            host_seen_at = now if self._heartbeats.living("host") else host_seen_at
            is_started = self._supervisor.pids().get(WORKER) not in (None, previous_pid)  # by a reload
            if is_started or now - host_seen_at >= HOSTLESS_S or now - started_at >= LONGEST_REST_S:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._published.wait()
        self._published.clear()

    async def _is_a_job_queued(self) -> bool:
        for kind in QUEUES:
            depth = await self._bus.depth(kind)
            if depth.waiting or depth.at_work:
                return True
        return False


async def _resting(last_facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"version": __version__, "resting": True, "at_work": {}, **last_facts}
