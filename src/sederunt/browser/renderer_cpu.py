"""Measure how much CPU time each browser's renderers used lately.

A page that answers nothing is in an endless loop where its renderer runs on without a pause, and merely late where that
one is not given the processor.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable

from sederunt.browser.stopped_processes import ProcessState

KEPT_LOOKS = 60


class RendererCpu:
    """The CPU-seconds of renderers, look by look."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # Process (number, start) → its browser's main process, and (when, CPU-seconds) of the last looks.
        self._looks: dict[tuple[int, int], tuple[int, deque[tuple[float, float]]]] = {}

    def look(self, renderers: Iterable[ProcessState]) -> None:
        """Take one look at the renderers; those that have ended are forgotten."""
        before, self._looks = self._looks, {}
        for state in renderers:
            key = (state.pid, state.started)
            kept = self._looks[key] = before.get(key, (state.session, deque(maxlen=KEPT_LOOKS)))
            kept[1].append((self._now(), state.cpu_s))

    def used_s(self, state: ProcessState, within_s: float) -> float:
        """Return the CPU-seconds that a renderer used in the last so many seconds."""
        _, looks = self._looks.get((state.pid, state.started), (0, ()))
        return _used(looks, self._now() - within_s)

    def most_s(self, browser: int, within_s: float) -> float:
        """Return the CPU-seconds of the renderer of a browser that used most in the last so many seconds."""
        since = self._now() - within_s
        return max((_used(looks, since) for session, looks in self._looks.values() if session == browser), default=0.0)


def _used(looks: Iterable[tuple[float, float]], since: float) -> float:
    seen = [cpu_s for at, cpu_s in looks if at >= since]
    return seen[-1] - seen[0] if seen else 0.0
