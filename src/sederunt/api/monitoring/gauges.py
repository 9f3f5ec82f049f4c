"""Gauges of the installation for `/metrics`: seats, processes, bots, queues, webhooks. Read at each scrape."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from prometheus_client import CollectorRegistry, Gauge

from sederunt import log
from sederunt.api.monitoring.process_counters import ProcessCountersCollector
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import Heartbeat, Heartbeats, faults_of
from sederunt.bus.streams import QUEUES
from sederunt.clock import Clock
from sederunt.database.deliveries import Deliveries
from sederunt.database.waiting import WaitingBots, unclaimed
from sederunt.jobs.installation import seats_of
from sederunt.model.status import AT_WORK

logger = log.get(component="api")

ROLES = ("api", "host", "worker")
READ_S = 5.0  # time limit for reading one part
BOOKED_AHEAD = timedelta(minutes=10)  # a machine that is ordered now is ready by then


@dataclass(frozen=True, kw_only=True, slots=True)
class GaugeSources:
    """What the gauges are read from."""

    heartbeats: Heartbeats
    waiting: WaitingBots
    deliveries: Deliveries
    bus: Bus
    clock: Clock


class ProcessGauges:
    """The processes, by their heartbeats."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(_gauge, registry)
        self._processes = gauge("processes", "Processes heard of, by role and state.", "role", "state")
        self._parts = gauge("part_faults", "Processes whose self-test failed, by part.", "role", "part")
        self._resident = gauge("role_resident_bytes", "Memory of a process without its children.", "role", "name")
        self._cpu = gauge("role_cpu_seconds", "CPU that a process has used, without its children.", "role", "name")
        self._load = gauge("host_load", "Share of all cores that was busy.", "name")
        self._browser_cpu = gauge("browser_cpu_seconds", "CPU that a host's living browsers have used.", "name")
        self._browser_memory = gauge("browser_resident_bytes", "Memory of a host's browsers.", "name")

    def hear(self, heartbeats: Heartbeats) -> None:
        for gauge in (self._parts, self._resident, self._cpu, self._load, self._browser_cpu, self._browser_memory):
            gauge.clear()
        for role in ROLES:
            living = heartbeats.living(role)
            self._processes.labels(role, "alive").set(len(living))
            self._processes.labels(role, "silent").set(len(heartbeats.silent(role)))
            for heartbeat in living:
                self._tell(heartbeat)

    def _tell(self, heartbeat: Heartbeat) -> None:
        facts, labels = heartbeat.facts, (heartbeat.role, heartbeat.name)
        for part in faults_of(heartbeat):
            self._parts.labels(heartbeat.role, part).inc()
        self._resident.labels(*labels).set(facts.get("resident", 0))
        self._cpu.labels(*labels).set(facts.get("cpu_s", 0))
        if "load" in facts:
            self._load.labels(heartbeat.name).set(facts["load"])
        if browsers := facts.get("browsers"):
            self._browser_cpu.labels(heartbeat.name).set(browsers["cpu_s"])
            self._browser_memory.labels(heartbeat.name).set(browsers["resident"])


class BudgetGauges:
    """The budgets that the processes count, by their heartbeats."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(_gauge, registry)
        self._use = gauge("budget_use", "Share of a limit that its largest holder uses.", "budget")
        self._limit = gauge("budget_limit", "What one holder may use.", "budget")
        self._refusals = gauge("budget_refusals", "Who was refused, or had to wait.", "role", "name", "budget")

    def hear(self, heartbeats: Heartbeats) -> None:
        for gauge in (self._use, self._refusals):
            gauge.clear()
        use_by_budget: dict[str, float] = {}
        for heartbeat in (each for role in ROLES for each in heartbeats.living(role)):
            for name, budget in heartbeat.facts.get("budgets", {}).items():
                self._refusals.labels(heartbeat.role, heartbeat.name, name).set(budget["refused"])
                self._limit.labels(name).set(budget["most"])
                share = budget["used"] / budget["most"] if budget["most"] else 0.0
                use_by_budget[name] = max(use_by_budget.get(name, 0.0), share)
                self._use.labels(name).set(use_by_budget[name])


class WorkGauges:
    """Pending work: bots and the seats that they take, jobs in queues, webhooks."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(_gauge, registry)
        self._seats = gauge("seats", "Places for bots on living hosts, by state.", "state")
        self._bots = gauge("bots", "Bots at hosts or on their way there, by status.", "status")
        self._line = gauge("bots_waiting", "Bots that are due and have no seat.")
        self._late = gauge("bots_waiting_seconds", "For how long the first in the line has waited.")
        self._jobs = gauge("jobs", "Jobs in a queue, by state.", "kind", "state")
        self._job_age = gauge("oldest_job_seconds", "Age of the oldest job of a queue, at work or not.", "kind")
        self._webhooks = gauge("webhooks_pending", "Webhooks that are not delivered yet.")
        self._webhook_age = gauge("oldest_webhook_seconds", "Age of the oldest webhook that is not delivered yet.")

    def hear(self, heartbeats: Heartbeats) -> None:
        seats = seats_of(heartbeats.living("host"))
        for state, count in (("total", seats.total), ("held", seats.held), ("free", seats.free)):
            self._seats.labels(state).set(count)

    async def read(self, sources: GaugeSources) -> None:
        """Read rows and queues. Parts that do not answer keep their last values: /ready reports that they are away."""
        now = sources.clock.now()
        await _tried(self._read_line(sources, now))
        await _tried(self._read_webhooks(sources, now))
        await _tried(self._read_queues(sources, now))

    async def _read_line(self, sources: GaugeSources, now: datetime) -> None:
        waiting = sources.waiting
        at_work = await waiting.at_work()
        line = [*await waiting.due(now), *unclaimed(at_work)]
        counts = Counter(bot.status for bot in at_work)
        for status in sorted(AT_WORK):
            self._bots.labels(status.value).set(counts[status.value])
        self._line.set(len(line))
        oldest = min((entry.wanted_at for entry in line), default=now)
        self._late.set(max((now - oldest).total_seconds(), 0))
        due_soon = await waiting.due(now + timedelta(seconds=1))
        held_seats = seats_of(sources.heartbeats.living("host")).held
        self._seats.labels("wanted").set(held_seats + len(due_soon) + len(unclaimed(at_work)))
        booked_bots = await waiting.due(now + BOOKED_AHEAD)
        self._seats.labels("booked").set(held_seats + len(booked_bots) + len(unclaimed(at_work)))

    async def _read_webhooks(self, sources: GaugeSources, now: datetime) -> None:
        count, oldest = await sources.deliveries.pending()
        self._webhooks.set(count)
        self._webhook_age.set((now - oldest).total_seconds() if oldest is not None else 0)

    async def _read_queues(self, sources: GaugeSources, now: datetime) -> None:
        for kind in QUEUES:
            depth = await sources.bus.depth(kind)
            self._jobs.labels(kind, "waiting").set(depth.waiting)
            self._jobs.labels(kind, "at_work").set(depth.at_work)
            age_s = (now - depth.oldest).total_seconds() if depth.oldest is not None else 0.0
            self._job_age.labels(kind).set(max(age_s, 0.0))


class InstallationGauges:
    """The gauges that have the same values in every api process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._processes, self._budgets = ProcessGauges(registry), BudgetGauges(registry)
        self._work = WorkGauges(registry)
        self._counters = ProcessCountersCollector(registry)

    def hear(self, heartbeats: Heartbeats) -> None:
        """Take over the last heartbeats of the processes."""
        self._counters.hear(heartbeats.living())
        for gauges in (self._processes, self._budgets, self._work):
            gauges.hear(heartbeats)

    async def read(self, sources: GaugeSources) -> None:
        """Take over the last heartbeats, then read bots, queues and webhooks."""
        self.hear(sources.heartbeats)
        await self._work.read(sources)


def _gauge(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Gauge:
    return Gauge(f"sederunt_{name}", text, labels, registry=registry)


async def _tried(reading: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(READ_S):
            await reading
    except Exception as error:  # any driver error: the counters of this process are reported all the same
        logger.warning("a part was not counted", action="not_counted", error=str(error)[:200])
