"""Tells the service manager that this process is ready, and again and again that it lives: systemd's `sd_notify`.

`serve` looks after its roles, and nobody after `serve`, nor after a role that runs by itself. So the manager does: one
whose event loop stands still for as long as the unit's `WatchdogSec` says is ended by it, and started anew.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from sederunt.bus.tasks import end

READY, ALIVE = "READY=1", "WATCHDOG=1"
# Of the environment: for the process that the manager started, and for none of its children.
ADDRESSED = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
BEATS = 4  # in the time after which the manager takes a process for frozen


def say(word: str) -> None:
    """Tell the manager one thing, where there is one that listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.setblocking(False)  # a manager that reads nothing holds up no event loop
        manager.sendto(word.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


def beat_every_s(environment: Mapping[str, str], pid: int) -> float | None:
    """Return how often the manager wants to hear that a process lives; None where it does not want to."""
    if not environment.get("NOTIFY_SOCKET") or environment.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    watched_us = environment.get("WATCHDOG_USEC", "")
    return int(watched_us) / 1e6 / BEATS if watched_us.isdecimal() and int(watched_us) else None


@asynccontextmanager
async def watched() -> AsyncIterator[None]:
    """Tell the manager, for as long as the block lasts, that this event loop runs."""
    every_s = beat_every_s(os.environ, os.getpid())

    async def beat(pause_s: float) -> None:
        while True:
            say(ALIVE)
            await asyncio.sleep(pause_s)

    beats = [asyncio.create_task(beat(every_s), name="watchdog")] if every_s is not None else []
    try:
        yield
    finally:
        await end(*beats)
