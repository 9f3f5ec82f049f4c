"""Tell the service manager that this process is ready, and repeatedly that it lives: systemd's `sd_notify`.

`serve` watches its roles, but nothing here watches `serve` or a role that runs by itself. So the manager does: it
restarts a process whose event loop stands still for the unit's `WatchdogSec`. Managers that poll (a probe of
Kubernetes, a health check of compose) look at the age of a file.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from sederunt.bus.tasks import end
from sederunt.cli.run_files import alive_file

READY, ALIVE = "READY=1", "WATCHDOG=1"
# Environment variables for the process that the manager started, but not for its children.
ADDRESSED = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
TOUCH_EVERY_S = 10.0
BEATS = 4  # within the time after which the manager takes a process for frozen


def say(word: str) -> None:
    """Send one message to the manager, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.setblocking(False)  # a manager that does not read must not block the event loop
        manager.sendto(word.encode(), f"\0{address[1:]}" if address.startswith("@") else address)


def beat_every_s(environment: Mapping[str, str], pid: int) -> float | None:
    """Return how often to tell the manager that a process lives; None if it does not ask for that."""
    if not environment.get("NOTIFY_SOCKET") or environment.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    watched_us = environment.get("WATCHDOG_USEC", "")
    return int(watched_us) / 1e6 / BEATS if watched_us.isdecimal() and int(watched_us) else None


@asynccontextmanager
async def watched(data: Path, role: str) -> AsyncIterator[None]:
    """Tell the manager and the readers of the alive file, while the block runs, that this event loop runs."""
    tasks = [asyncio.create_task(_touch(alive_file(data, role)), name="alive file")]
    if (every_s := beat_every_s(os.environ, os.getpid())) is not None:
        tasks.append(asyncio.create_task(_beat(every_s), name="watchdog"))
    try:
        yield
    finally:
        await end(*tasks)


async def _beat(pause_s: float) -> None:
    while True:
        say(ALIVE)
        await asyncio.sleep(pause_s)


async def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # a full disk is reported elsewhere
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:  # a folder that is removed later is not made again; that is reported
        with contextlib.suppress(OSError):
            await asyncio.to_thread(path.touch, 0o600)
        await asyncio.sleep(TOUCH_EVERY_S)
