"""Child processes that must not outlive us: how they are marked, and how those of a killed process are killed.

A browser normally ends with us: when this process is killed, the driver's input closes and it ends its browsers; when
the driver is killed, the browser's pipe closes. The mark is for other cases, such as a stopped driver.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from sederunt import log

OWNER_VARIABLE = "SEDERUNT_OWNER"  # in the environment of every child: "<pid>:<start of that process in ticks>"
LAUNCH_VARIABLE = "SEDERUNT_LAUNCH"  # in the environment of a browser's processes: which launch they come from

logger = log.get(component="browser")


@cache
def _mark_of(pid: int) -> str:
    return f"{pid}:{started_ticks(pid)}"


def owner_mark() -> str:
    """Return a mark of this process that distinguishes it from any later one with the same number."""
    return _mark_of(os.getpid())


def started_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None for no process, or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


def is_alive(mark: str) -> bool:
    """Return whether the process that a mark names still runs."""
    pid, _, ticks = mark.partition(":")
    return pid.isdigit() and str(started_ticks(int(pid))) == ticks


def is_ending(pid: int) -> bool:
    """Return whether a process has ended or is about to. The kernel frees its memory first, then closes its pipes, and
    reports its end last: the reader of a pipe may notice earlier.
    """
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


def orphans() -> Iterator[int]:
    """Yield numbers of marked processes whose owner is gone."""
    for pid, mark in _marked(OWNER_VARIABLE):
        if not is_alive(mark):
            yield pid


def _marked(variable: str) -> Iterator[tuple[int, str]]:
    # Yields every process that has this variable, and its value.
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (value := _value_of(variable, folder)) is not None:
            yield int(folder.name), value


def _value_of(variable: str, folder: Path) -> str | None:
    try:
        environment = (folder / "environ").read_bytes()
    except OSError:  # not ours to read, or gone
        return None
    prefix = f"{variable}=".encode()
    for entry in environment.split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("ascii", errors="replace")
    return None


def sweep_orphans() -> int:
    """Kill the processes that a killed process of ours left behind; return how many."""
    count = 0
    for pid in list(orphans()):
        count += kill(pid)
    if count:
        logger.warning("orphans were killed", action="orphans_swept", count=count)
    return count


def kill_launched(launch: str) -> int:
    """Kill the processes of a browser whose process id never became known; return how many."""
    return sum(kill(pid) for pid, mark in list(_marked(LAUNCH_VARIABLE)) if mark == launch)


def kill(pid: int) -> bool:
    """End a process at once; return False if it was gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def when_ended(pid: int, call: Callable[[], None]) -> Callable[[], None]:
    """Call once when a process has ended, even if it is not our child; this costs nothing until then.

    Returns the function that ends the watch. If the system cannot report it (it is not Linux), or the process is gone
    already, nothing is ever called.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return lambda: None
    loop = asyncio.get_running_loop()

    def end() -> None:
        nonlocal descriptor
        if descriptor >= 0:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            descriptor = -1

    def ended() -> None:
        end()
        call()

    loop.add_reader(descriptor, ended)
    return end
