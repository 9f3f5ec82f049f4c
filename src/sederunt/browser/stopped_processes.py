"""Find processes that were stopped (SIGSTOP) and never continued, such as a renderer.

No socket closes and no call fails: a caller waits for such a process for ever, or until a deadline that has to be long,
since a busy machine looks the same from outside. The kernel knows the difference: a process that it reports as stopped
does not run for that reason, however busy the machine is. So the process is ended, and an end is noticed at once.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# Looks in a row: a process that is stopped and continued within a second or two does no harm.
LOOKS_IN_A_ROW = 3
LOOKS_UNTIL_ALL = 10  # looks after which every process of the machine is read again
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
_STOPPED = frozenset((b"T", b"t"))  # by a signal, by a debugger


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessState:
    """One process at one moment, as the kernel reports it."""

    pid: int
    parent: int
    session: int  # the browser's main process, for all processes of a browser
    started: int  # clock ticks since boot: together with the number it identifies a process for ever
    is_stopped: bool
    cpu_s: float = 0.0  # used since its start
    memory_mb: float = 0.0  # resident, shared memory included


def stat_fields(path: str) -> list[bytes]:
    """Return the kernel's facts on a process or thread, from its state on (proc(5), the third field of `stat`); empty
    if it is gone, or if the system reports none."""
    # Called often for many processes: pathlib and text files would add three quarters of the cost.
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:  # ended meanwhile
        return []
    try:
        text = os.read(file, 4096)
    except OSError:
        return []
    finally:
        os.close(file)
    return text.rpartition(b")")[2].split()


def state_of(pid: int) -> ProcessState | None:
    """Return one process as it is now; None if it is gone, or if the system reports none."""
    fields = stat_fields(f"/proc/{pid}/stat")
    if not fields:
        return None
    return ProcessState(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        is_stopped=fields[0] in _STOPPED,
        cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
        memory_mb=int(fields[21]) * _PAGE_MB,
    )


class SessionProcesses:
    """Reads the processes of some sessions, look by look. Any other process of the machine is read only now and then:
    a server may have thousands, and reading each of them once a second would cost a host more than a bot does.

    Args:
        read: reads one process.
    """

    def __init__(self, read: Callable[[int], ProcessState | None] = state_of) -> None:
        self._read = read
        self._others: set[int] = set()  # processes of other sessions
        self._asked: tuple[frozenset[int], frozenset[int]] | None = None
        self._looks = 0

    def look(self, sessions: Iterable[int], beside: Iterable[int]) -> Mapping[int, ProcessState]:
        """Return the processes of these sessions and those of `beside`, by their numbers; empty if the system does not
        report processes (it is not Linux).

        Args:
            beside: numbers of single processes of any session.
        """
        try:
            numbers = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208  # no paths
        except OSError:
            return {}
        scope = (frozenset(sessions), frozenset(beside))
        # A process may begin a session after it was read, and another process may get its number.
        if scope != self._asked or self._looks % LOOKS_UNTIL_ALL == 0:
            self._others = set()
        self._asked, self._looks = scope, self._looks + 1
        states = {state.pid: state for state in map(self._read, numbers - self._others) if state is not None}
        selected = {pid: state for pid, state in states.items() if state.session in scope[0] or pid in scope[1]}
        self._others = (self._others & numbers) | (states.keys() - selected.keys())
        return selected


class StoppedProcesses:
    """Counts the looks in a row in which each process was stopped.

    Args:
        enough: looks after which it has been stopped for too long.
    """

    def __init__(self, enough: int = LOOKS_IN_A_ROW) -> None:
        self._enough = enough
        self._looks: dict[tuple[int, int], int] = {}

    def look(self, states: Iterable[ProcessState]) -> list[ProcessState]:
        """Take one look at the processes; return those that have been stopped for too long."""
        stopped = [state for state in states if state.is_stopped]
        self._looks = {
            (process.pid, process.started): self._looks.get((process.pid, process.started), 0) + 1
            for process in stopped
        }
        return [process for process in stopped if self._looks[process.pid, process.started] >= self._enough]


def kind_of(pid: int) -> str:
    """Return a process's role in its browser: "renderer", "gpu-process", "zygote", a service such as
    "network.mojom.NetworkService", "browser" for its main process, and "" for one that is gone.
    """
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").split()
    except OSError:
        return ""
    switches = dict(word.removeprefix("--").split("=", 1) for word in words if word.startswith("--") and "=" in word)
    return switches.get("utility-sub-type") or switches.get("type") or ("browser" if words else "")
