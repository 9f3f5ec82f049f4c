"""Measure how much CPU time each browser's renderers used lately.

A page that does not answer is in an endless loop if its renderer runs without a pause, and merely late if its renderer
does not get the CPU.

The browser does not name the process of a page. A renderer that was busy before the page fell silent, or that started
later, belongs to another page: a neighbour in a loop must not be taken for the page's own renderer.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable

from sederunt.browser.stopped_processes import ProcessState

KEPT_LOOKS = 60
BEFORE_S = 3.0  # time before the silence in which a renderer must have been calm
CALM_CORES = 0.5  # the most that a calm renderer uses; a meeting takes a tenth


class RendererCpu:
    """The CPU-seconds of renderers, look by look."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # Process (number, start) → its browser's main process, and (when, CPU-seconds) of the last looks.
        self._looks: dict[tuple[int, int], tuple[int, deque[tuple[float, float]]]] = {}

    def look(self, renderers: Iterable[ProcessState]) -> None:
        """Take one look at the renderers; forget those that have ended."""
        previous, self._looks = self._looks, {}
        for state in renderers:
            key = (state.pid, state.started)
            history = self._looks[key] = previous.get(key, (state.session, deque(maxlen=KEPT_LOOKS)))
            history[1].append((self._now(), state.cpu_s))

    def used_s(self, state: ProcessState, within_s: float) -> float:
        """Return the CPU-seconds that a renderer used in the last `within_s` seconds."""
        _, looks = self._looks.get((state.pid, state.started), (0, ()))
        return _used(looks, self._now() - within_s)

    def most_s(self, browser: int, within_s: float, answered_s: float) -> float:
        """Return the CPU-seconds in the last `within_s` seconds of a browser's busiest renderer that may be the page's.

        Args:
            answered_s: seconds since the page last answered; at that time its renderer existed and was calm.
        """
        now = self._now()
        histories = [looks for session, looks in self._looks.values() if session == browser]
        return max(
            (_used(looks, now - within_s) for looks in histories if _was_calm(looks, now - answered_s)), default=0.0
        )


def _was_calm(looks: Iterable[tuple[float, float]], until: float) -> bool:
    readings = [(at, cpu_s) for at, cpu_s in looks if until - BEFORE_S <= at <= until]
    if not readings:
        return False
    (first_at, first_cpu_s), (last_at, last_cpu_s) = readings[0], readings[-1]
    return last_cpu_s - first_cpu_s <= CALM_CORES * (last_at - first_at)


def _used(looks: Iterable[tuple[float, float]], since: float) -> float:
    readings = [cpu_s for at, cpu_s in looks if at >= since]
    return readings[-1] - readings[0] if readings else 0.0
