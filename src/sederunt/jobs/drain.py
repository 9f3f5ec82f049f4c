"""How a role is asked to end: by a stop of the service, or by a process that started its successor."""

import asyncio

from sederunt.bus.consume import OFFERED_S

# Time for all bots of a host to move to its successor: each page takes some seconds of a core, and a full machine
# starts a few at a time.
REPLACED_S = 300.0


class Drain:
    """The end of one process: its signals request it, its work reads it.

    Args:
        timeout_s: how long work may take to end if no successor takes this process's place.
    """

    def __init__(self, timeout_s: float) -> None:
        self.asked = asyncio.Event()
        self.cut_short = asyncio.Event()  # the successor ends as well
        self._timeout_s = timeout_s
        self._replaced = False

    def ask(self) -> bool:
        """Ask the process to end; False if it was asked before and should stop at once."""
        if self.asked.is_set() and (not self._replaced or self.cut_short.is_set()):
            return False
        if self._replaced:
            self.cut_short.set()
        self.asked.set()
        return True

    def replace(self) -> None:
        """Ask the process to move its work to a successor that is running already."""
        self._replaced = self._replaced or not self.asked.is_set()
        self.asked.set()

    @property
    def within_s(self) -> float:
        """Return how long work may take to end, or to move."""
        return max(self._timeout_s, REPLACED_S) if self._replaced else self._timeout_s

    @property
    def offer_after_s(self) -> float:
        """Return when remaining work is offered to others: at once to a successor, else towards the end."""
        return 0.0 if self._replaced else max(self._timeout_s - OFFERED_S, 0.0)
