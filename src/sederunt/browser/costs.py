"""A browser's costs for each of its bots: the CPU and memory of its processes, shared among the bots in it meanwhile.

They are read only when a bot comes or goes and on request, and cost nothing in between.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB_IN_KIB = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class CostShare:
    """One bot's part of a browser."""

    cpu_s: float  # since the bot came
    memory_mib: float | None  # now: its share of the processes' memory, shared pages counted once; None if unknown


class SharedCost:
    """The costs of one browser, by its main process."""

    def __init__(self) -> None:
        self._spent: dict[tuple[int, float], float] = {}  # CPU-seconds of each process when it was read last
        self._share_s = 0.0  # CPU-seconds of one seat since the beginning
        self._lock = asyncio.Lock()

    async def settle(self, pid: int, seats: int) -> float:
        """Share the CPU time spent since the last call among the seats; return one seat's sum since the beginning."""
        async with self._lock:
            if pid:
                cpu_s_by_process = await asyncio.to_thread(_spent_by, pid)
                new_cpu_s = sum(
                    seconds - self._spent.get(process, 0.0) for process, seconds in cpu_s_by_process.items()
                )
                self._spent = cpu_s_by_process
                self._share_s += max(new_cpu_s, 0.0) / max(seats, 1)
            return self._share_s

    async def of_one(self, pid: int, seats: int, since_s: float) -> CostShare:
        """Return the part of a bot that came when one seat's sum was `since_s`."""
        cpu_s = await self.settle(pid, seats) - since_s
        memory_kib = await asyncio.to_thread(_held_by, pid) if pid else 0
        memory_mib = round(memory_kib / MIB_IN_KIB / max(seats, 1), 1) if memory_kib else None
        return CostShare(cpu_s=round(max(cpu_s, 0.0), 2), memory_mib=memory_mib)


def family_of(pid: int) -> list[psutil.Process]:
    """Return a process and all its descendants; empty if it has ended."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _spent_by(pid: int) -> dict[tuple[int, float], float]:
    cpu_s_by_process = {}
    for process in family_of(pid):
        try:
            times = process.cpu_times()
            cpu_s_by_process[(process.pid, process.create_time())] = times.user + times.system
        except psutil.Error:
            continue
    return cpu_s_by_process


def _held_by(pid: int) -> int:
    # Returns the proportional set size of a process with its children, in KiB; 0 if it cannot be read.
    return sum(pss_of(process.pid) for process in family_of(pid))


def pss_of(pid: int) -> int:
    """Return the proportional set size of one process in KiB; 0 if it cannot be read."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0
