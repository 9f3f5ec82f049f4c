"""How much the renderers of each browser ran lately.

A page that answers nothing is in an endless loop where its renderer runs on without a pause, and merely late where that
one is not given the processor.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache

from sederunt.browser.stopped import ProcessState, kind_of

KEPT_LOOKS = 30


class SpunTimes:
    """The CPU-seconds of renderers, look by look."""

    def __init__(
        self, kind: Callable[[int, int], str] | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._kind, self._now = kind or lru_cache(maxsize=4096)(_kind_of), now
        # Process (number, start) → its browser's main process, and (when, CPU-seconds) of the last looks.
        self._looks: dict[tuple[int, int], tuple[int, deque[tuple[float, float]]]] = {}

    def look(self, states: Iterable[ProcessState]) -> None:
        """Take one look at the processes of browsers; those that have ended are forgotten."""
        before, self._looks = self._looks, {}
        for state in states:
            key = (state.pid, state.started)
            if self._kind(*key) == "renderer":
                kept = before.get(key, (state.session, deque(maxlen=KEPT_LOOKS)))
                kept[1].append((self._now(), state.cpu_s))
                self._looks[key] = kept

    def most_s(self, browser: int, within_s: float) -> float:
        """Return the CPU-seconds of the renderer of a browser that used most in the last so many seconds."""
        since = self._now() - within_s
        return max((_used(looks, since) for session, looks in self._looks.values() if session == browser), default=0.0)


def _used(looks: Iterable[tuple[float, float]], since: float) -> float:
    seen = [cpu_s for at, cpu_s in looks if at >= since]
    return seen[-1] - seen[0] if seen else 0.0


def _kind_of(pid: int, _started: int) -> str:
    return kind_of(pid)
