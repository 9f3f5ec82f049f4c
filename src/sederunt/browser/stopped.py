"""Processes that somebody stopped and nobody ended, such as a renderer that got a SIGSTOP.

No socket closes and no call fails: whoever waits for such a process waits for ever, or until a deadline that has to be
long, since a busy machine looks alike from outside. The kernel knows the difference. A process that it calls stopped
does not run because it was stopped, however busy the machine is; so it is ended, and an end is noticed at once.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# In so many looks in a row: a process that is stopped and told to go on within a second or two harms nobody.
LOOKS_IN_A_ROW = 3
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_STOPPED = frozenset((b"T", b"t"))  # by a signal, by a debugger


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessState:
    """One process at one moment, as the kernel tells."""

    pid: int
    parent: int
    session: int  # the browser's main process, for all processes of a browser
    started: int  # clock ticks since boot: with the number it names a process for good
    is_stopped: bool
    cpu_s: float = 0.0  # that it has used since it began


def process_states() -> Mapping[int, ProcessState]:
    """Return every process by its number; nothing where the system does not tell of processes (it is no Linux)."""
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  # numbers, not paths
    except OSError:
        return {}
    states = map(state_of, numbers)
    return {state.pid: state for state in states if state is not None}


def state_of(pid: int) -> ProcessState | None:
    """Return one process as it is now; None for one that is gone, and where the system tells of none."""
    # Every process of the machine, once a second: what pathlib and text files add would be three quarters of the cost.
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:  # ended meanwhile
        return None
    try:
        text = os.read(file, 4096)
    except OSError:
        return None
    finally:
        os.close(file)
    fields = text.rpartition(b")")[2].split()
    return ProcessState(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        is_stopped=fields[0] in _STOPPED,
        cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
    )


class StoppedProcesses:
    """Counts in how many looks in a row each process was stopped."""

    def __init__(self) -> None:
        self._looks: dict[tuple[int, int], int] = {}

    def look(self, states: Iterable[ProcessState]) -> list[ProcessState]:
        """Take one look at the processes; returns those that have been stopped for too long."""
        stopped = [state for state in states if state.is_stopped]
        self._looks = {(one.pid, one.started): self._looks.get((one.pid, one.started), 0) + 1 for one in stopped}
        return [one for one in stopped if self._looks[one.pid, one.started] >= LOOKS_IN_A_ROW]


def kind_of(pid: int) -> str:
    """Return what a process is to its browser: "renderer", "gpu-process", "zygote", a service such as
    "network.mojom.NetworkService", "browser" for its main process, and "" for one that is gone.
    """
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").split()
    except OSError:
        return ""
    told = dict(word.removeprefix("--").split("=", 1) for word in words if word.startswith("--") and "=" in word)
    return told.get("utility-sub-type") or told.get("type") or ("browser" if words else "")
