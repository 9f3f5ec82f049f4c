"""How many requests a key may make: one bucket of tokens per key, in this process."""

import math
from collections.abc import Callable, Hashable

_MOST_BUCKETS = 100_000


class RateLimit:
    """A bucket holds a minute's worth of requests and fills up evenly. 0 per minute means no limit."""

    def __init__(self, per_minute: int, monotonic: Callable[[], float]) -> None:
        self._size = float(per_minute)
        self._per_second = per_minute / 60
        self._monotonic = monotonic
        self._buckets: dict[Hashable, tuple[float, float]] = {}  # key → (tokens left, when that was true)

    def wait_s(self, key: Hashable) -> int:
        """Take one token. 0 when there was one, else the whole seconds until there is."""
        if not self._per_second:
            return 0
        now = self._monotonic()
        left, since = self._buckets.get(key, (self._size, now))
        left = min(self._size, left + (now - since) * self._per_second)
        if left < 1:
            return math.ceil((1 - left) / self._per_second)
        if len(self._buckets) >= _MOST_BUCKETS:
            self._buckets.clear()
        self._buckets[key] = (left - 1, now)
        return 0
