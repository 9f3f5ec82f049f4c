"""What a tree of processes costs: CPU-seconds and proportional memory, never wall clock.

CPU of a child that ends between two samples is lost; at the default rate of a sample a second that is the start and
end of short helpers only.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import psutil

from sederunt.browser.costs import family_of, pss_of


@dataclass
class TreeMeter:
    """Adds up one or more process trees over time. Call `sample` about once a second."""

    roots: Sequence[int]
    _first: dict[tuple[int, float], float] = field(default_factory=dict)
    _last: dict[tuple[int, float], float] = field(default_factory=dict)
    pss_mib: float = 0.0
    browsers_mib: float = 0.0  # of that, what is Chromium's
    peak_pss_mib: float = 0.0
    _began_s: float | None = None
    _ended_s: float = 0.0

    def sample(self) -> None:
        """Read every process of the trees once."""
        pss_kib = browsers_kib = 0
        is_first = not self._last
        self._ended_s = time.monotonic()
        self._began_s = self._ended_s if self._began_s is None else self._began_s
        for process in chain.from_iterable(map(family_of, self.roots)):
            try:
                times = process.cpu_times()
                key, name = (process.pid, process.create_time()), process.name()
            except psutil.Error:
                continue
            spent = times.user + times.system
            # A process that is new since the last sample counts from zero, the ones of the first sample from there.
            self._first.setdefault(key, spent if is_first else 0.0)
            self._last[key] = spent
            mine_kib = pss_of(process.pid)
            pss_kib += mine_kib
            browsers_kib += mine_kib if name.startswith("chrom") else 0
        self.pss_mib, self.browsers_mib = pss_kib / 1024, browsers_kib / 1024
        self.peak_pss_mib = max(self.peak_pss_mib, self.pss_mib)

    @property
    def cpu_s(self) -> float:
        """Return the CPU-seconds, user and system, since the first sample."""
        return sum(spent - self._first[key] for key, spent in self._last.items())

    @property
    def cpu_percent(self) -> float:
        """Return percent of a core from the first sample to the last; reading the processes takes time of its own."""
        return 100 * self.cpu_s / (self._ended_s - self._began_s) if self._began_s is not None else 0.0

    @property
    def total_cpu_s(self) -> float:
        """Return the CPU-seconds that the processes now known have spent since each of them began."""
        return sum(self._last.values())


def cpu_s_of(pid: int) -> float:
    """Return the CPU-seconds, user and system, that one process has used until now. Raises psutil.Error."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def resident_mb_of(pid: int) -> float:
    """Return the resident memory of one process in MB. Raises psutil.Error."""
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def peak_rss_kib() -> int:
    """Return the most memory this process held at once, in KiB.

    Not getrusage: what it gives includes the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
