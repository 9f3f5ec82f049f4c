"""Pages that take the machine's processors: endless loops, in a worker for instance, where no call gets stuck by them.

Each renderer has CPU-seconds that come back evenly, as every budget of a page. One that lives beyond half of what its
page may have for good has to give way first, at a higher niceness: then it costs nobody but itself.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sederunt.browser.stopped import ProcessState

NICENESS = 10
NICE_SHARE = 0.5  # of the budget's rate and size


@dataclass(frozen=True, kw_only=True, slots=True)
class HogVerdict:
    """What is to be done about processes that take too much."""

    give_way: list[ProcessState]
    end: list[ProcessState]


@dataclass(slots=True)
class _Bucket:
    left: float
    nice_left: float
    cpu_s: float
    at: float
    has_given_way: bool = False


@dataclass(slots=True)
class CpuBudgets:
    """The buckets of all renderers, by looks at their processes.

    Args:
        size: CPU-seconds of a full bucket; 0 for no limit.
        per_s: CPU-seconds that come back each second.
    """

    size: float
    per_s: float
    _buckets: dict[tuple[int, int], _Bucket] = field(default_factory=dict)

    def look(self, renderers: Iterable[ProcessState], now: float) -> HogVerdict:
        """Take what each renderer spent since the last look, at `now` (monotonic seconds)."""
        verdict = HogVerdict(give_way=[], end=[])
        if not self.size:
            return verdict
        before, self._buckets = self._buckets, {}
        for state in renderers:
            full = _Bucket(self.size, self.size * NICE_SHARE, state.cpu_s, now)
            bucket = self._buckets[state.pid, state.started] = before.get((state.pid, state.started), full)
            spent, passed = state.cpu_s - bucket.cpu_s, now - bucket.at
            bucket.cpu_s, bucket.at = state.cpu_s, now
            bucket.left = min(self.size, bucket.left + passed * self.per_s) - spent
            bucket.nice_left = min(self.size * NICE_SHARE, bucket.nice_left + passed * self.per_s * NICE_SHARE) - spent
            if bucket.left < 0:
                verdict.end.append(state)
            elif bucket.nice_left < 0 and not bucket.has_given_way:
                bucket.has_given_way = True
                verdict.give_way.append(state)
        return verdict


def give_way(pid: int) -> None:
    """Have all threads of a process wait for others. New ones inherit it."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                number = int(thread.name)
                os.setpriority(os.PRIO_PROCESS, number, max(NICENESS, os.getpriority(os.PRIO_PROCESS, number)))
