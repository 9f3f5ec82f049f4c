"""Limit pages that take too much CPU: endless loops, for instance in a worker, where they block no call.

Each renderer has CPU-seconds that come back evenly, like every budget of a page. A renderer that exceeds half of what
its page may use permanently first gets a higher niceness: then it slows down only itself.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sederunt.accounting import Rate
from sederunt.browser.stopped_processes import ProcessState

NICENESS = 10
NICE_SHARE = 0.5  # of the budget's rate and size


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuVerdict:
    """The measures against processes that take too much."""

    give_way: list[ProcessState]
    end: list[ProcessState]


@dataclass(slots=True)
class _Renderer:
    whole: Rate
    share: Rate  # beyond which it gives way
    cpu_s: float
    has_given_way: bool = False


@dataclass(slots=True)
class CpuBudgets:
    """The buckets of all renderers, filled from looks at their processes.

    Args:
        size: CPU-seconds of a full bucket; 0 for no limit.
        per_s: CPU-seconds that come back each second.
    """

    size: float
    per_s: float
    _known: dict[tuple[int, int], _Renderer] = field(default_factory=dict)
    _now: float = 0.0

    def look(self, renderers: Iterable[ProcessState], now: float) -> CpuVerdict:
        """Take what each renderer spent since the last look, at `now` (monotonic seconds)."""
        verdict = CpuVerdict(give_way=[], end=[])
        if not self.size:
            return verdict
        self._now = now
        previous, self._known = self._known, {}
        for state in renderers:
            key = (state.pid, state.started)
            renderer = self._known[key] = previous.get(key) or _Renderer(
                self._rate(1.0), self._rate(NICE_SHARE), state.cpu_s
            )
            spent_s, renderer.cpu_s = state.cpu_s - renderer.cpu_s, state.cpu_s
            may_stay, is_modest = renderer.whole.charge(key, spent_s), renderer.share.charge(key, spent_s)
            if not may_stay:
                verdict.end.append(state)
            elif not is_modest and not renderer.has_given_way:
                renderer.has_given_way = True
                verdict.give_way.append(state)
        return verdict

    def _rate(self, share: float) -> Rate:
        return Rate(self.size * share, self.per_s * share, lambda: self._now)


def give_way(pid: int) -> None:
    """Give all threads of a process a higher niceness. New ones inherit it."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                number = int(thread.name)
                os.setpriority(os.PRIO_PROCESS, number, max(NICENESS, os.getpriority(os.PRIO_PROCESS, number)))
