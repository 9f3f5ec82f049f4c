"""Heartbeats: each process says every second that it is alive, what it can do and what it holds.

Nothing is stored: each process remembers the last heartbeats that it heard. A process sends them from its event loop,
so one that is frozen, overloaded or cut off falls silent by itself, whatever the message server believes of its
connection.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psutil
from nats.aio.msg import Msg

from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.bus.tasks import end

logger = log.get(component="bus")

EVERY_S = 1.0
SILENT_S = 6.0  # a process not heard for so long cannot be used now
FORGOTTEN_S = 600.0  # … and for so long is forgotten

OK = "ok"  # the state of a part that passed its test

# The subjects keep their old names, so that processes of earlier versions are heard during an upgrade.
_SUBJECT = "pulse.{}"
_CALL = "pulses.call"  # every process that hears it sends a heartbeat at once

Facts = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Heartbeat:
    """The last heartbeat of a process."""

    role: str
    name: str
    pid: int
    facts: Facts
    heard_at: float  # monotonic time of the hearing process


class Heartbeats:
    """Everybody's last heartbeats, as one process hears them."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: dict[tuple[str, str, int], Heartbeat] = {}
        self._began_at = now()

    @property
    def listening_s(self) -> float:
        """Return for how many seconds this process has listened for heartbeats."""
        return self._now() - self._began_at

    def hear(self, facts: Facts) -> None:
        """Take one heartbeat; a last one removes its process."""
        key = (str(facts["role"]), str(facts["name"]), int(facts["pid"]))
        if facts.get("last"):
            self._last.pop(key, None)
            return
        role, name, pid = key
        self._last[key] = Heartbeat(role=role, name=name, pid=pid, facts=facts, heard_at=self._now())

    def living(self, role: str | None = None) -> list[Heartbeat]:
        """Return the processes heard within `SILENT_S`, by role and name."""
        return [heartbeat for heartbeat in self._known(role) if self.age_s(heartbeat) < SILENT_S]

    def silent(self, role: str | None = None) -> list[Heartbeat]:
        """Return the processes that fell silent without a last heartbeat and have no successor of their name."""
        living_names = {(heartbeat.role, heartbeat.name) for heartbeat in self.living(role)}
        return [p for p in self._known(role) if self.age_s(p) >= SILENT_S and (p.role, p.name) not in living_names]

    def age_s(self, heartbeat: Heartbeat) -> float:
        """Return the seconds since a heartbeat was heard."""
        return self._now() - heartbeat.heard_at

    def _known(self, role: str | None) -> Iterable[Heartbeat]:
        for key in [key for key, heartbeat in self._last.items() if self.age_s(heartbeat) > FORGOTTEN_S]:
            del self._last[key]
        return sorted(
            (heartbeat for heartbeat in self._last.values() if role in (None, heartbeat.role)),
            key=lambda p: (p.role, p.name, p.pid),
        )


def faults_of(heartbeat: Heartbeat) -> dict[str, str]:
    """Return the parts of a process that failed their last test."""
    return {part: str(word) for part, word in heartbeat.facts.get("parts", {}).items() if word != OK}


def is_resting(heartbeat: Heartbeat) -> bool:
    """Return whether it stands for a process that rests: see `cli.rest`."""
    return bool(heartbeat.facts.get("resting"))


@asynccontextmanager
async def hearing(bus: Bus) -> AsyncIterator[Heartbeats]:
    """Hear everybody's heartbeats while the block runs; at its start everybody is asked for one at once."""
    heartbeats = Heartbeats()

    async def on_message(message: Msg) -> None:
        try:
            heartbeats.hear(json.loads(message.data))
        except (ValueError, KeyError, TypeError):
            logger.warning("heartbeat not understood", action="heartbeat_odd", subject=message.subject)

    subscription = await bus.subscribe(_SUBJECT.format("*"), on_message)
    await bus.tell(_CALL, b"{}")
    try:
        yield heartbeats
    finally:
        await subscription.close()


@asynccontextmanager
async def beating(bus: Bus, role: str, name: str, facts: Callable[[], Awaitable[Facts]]) -> AsyncIterator[None]:
    """Send this process's heartbeat every second while the block runs, and a last one at its end.

    Args:
        facts: returns what to send beside role, name and process; called each time, and must be quick.
    """
    identity = {"role": role, "name": name, "pid": os.getpid()}
    process = psutil.Process()

    async def send(**more: object) -> None:
        cpu_times = process.cpu_times()
        usage = {"resident": process.memory_info().rss, "cpu_s": round(cpu_times.user + cpu_times.system, 2)}
        heartbeat = {**identity, **usage, **await facts(), **more}
        await bus.tell(_SUBJECT.format(role), json.dumps(heartbeat).encode())

    async def beat() -> None:
        while True:
            try:
                await send()
            except Exception:
                logger.exception("heartbeat not sent", action="heartbeat_failed")
            await asyncio.sleep(EVERY_S)

    async def on_call(_message: Msg) -> None:
        await send()

    subscription = await bus.subscribe(_CALL, on_call)
    beat_task = asyncio.create_task(beat(), name="heartbeat")
    try:
        yield
    finally:
        await subscription.close()
        await end(beat_task)
        await bus.tell(_SUBJECT.format(role), json.dumps({**identity, "last": True}).encode())
