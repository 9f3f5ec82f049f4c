"""CPU and memory that the browsers of a host use together, in all of their processes, sampled now and then."""

import time
from collections.abc import Callable, Iterable

import psutil

from sederunt.browser.costs import family_of

LOOK_S = 15.0  # each look inspects every process of the machine


class Footprint:
    """The browsers of this host.

    Args:
        browsers: the main process of each.
    """

    def __init__(self, browsers: Callable[[], Iterable[int]], now: Callable[[], float] = time.monotonic) -> None:
        self._browsers, self._now = browsers, now
        self._looked_at: float | None = None
        self._told = {"cpu_s": 0.0, "resident": 0.0}

    def told(self) -> dict[str, float]:
        """Return the CPU-seconds of living browsers, and their resident bytes, with shared ones counted in each
        process.
        """
        if self._looked_at is None or self._now() - self._looked_at >= LOOK_S:
            self._looked_at = self._now()
            self._told = _sums(self._browsers())
        return self._told


def _sums(browsers: Iterable[int]) -> dict[str, float]:
    sums = {"cpu_s": 0.0, "resident": 0.0}
    for pid in browsers:
        for process in family_of(pid):
            try:
                times = process.cpu_times()
                sums["cpu_s"] += times.user + times.system
                sums["resident"] += process.memory_info().rss
            except psutil.Error:
                continue
    return {name: round(total, 1) for name, total in sums.items()}
