"""Convert a page's times to the stay's: a page reads the machine's clock once, when it is loaded, and counts on.

So does a stay. As long as nobody sets the clock, both agree; a page that is loaded after the clock was set is ahead of
its stay, or behind, by that change, and its sound would be shifted by as much in the recording.
"""

import time
from collections.abc import Callable
from functools import partial

MOST_REALMS = 1000  # further ones are judged anew each time: a page may invent any number of names
LEAST_LEAP_MS = 2000.0  # less than this is the network's time service at work, or a busy machine


def wall_ms() -> float:
    """Return the machine's time of day in Unix milliseconds."""
    return time.time() * 1000


class PageTimes:
    """Knows, for each realm of a bot's pages, by how much its clock is ahead of the stay's.

    Args:
        now_ms: the stay's time in Unix milliseconds, which does not change when the clock is set.
        machine_ms: the machine's time in Unix milliseconds.
    """

    def __init__(self, now_ms: Callable[[], float] = wall_ms, machine_ms: Callable[[], float] = wall_ms) -> None:
        self.now_ms, self._machine_ms = now_ms, machine_ms
        self._ahead_ms: dict[str, float] = {}

    def of(self, realm: str) -> Callable[[float], float]:
        """Return the function that converts a realm's times into the stay's."""
        return partial(self._in_ours, realm)

    def _in_ours(self, realm: str, at_ms: float) -> float:
        ahead_ms = self._ahead_ms.get(realm)
        if ahead_ms is None:
            ahead_ms = self._judged(at_ms)
            if len(self._ahead_ms) < MOST_REALMS:
                self._ahead_ms[realm] = ahead_ms
        return at_ms - ahead_ms

    def _judged(self, at_ms: float) -> float:
        # Returns how far a realm is ahead whose first message has the time `at_ms`: not at all, or by the change of the
        # clock. The difference of both times would not do: the message may have waited, which would shift every frame.
        now_ms = self.now_ms()
        leap_ms = self._machine_ms() - now_ms
        is_set = abs(leap_ms) >= LEAST_LEAP_MS and abs(at_ms - leap_ms - now_ms) < abs(at_ms - now_ms)
        return leap_ms if is_set else 0.0
