"""Decide whose file is opened next: few processes read callers' files at once, and each account has its share.

Starting a reader costs more than reading most files. An account that sends one file after another could keep the
machine busy with nothing else. So its readers wait for each other and for those of accounts with fewer; after long work
they run at the lowest priority. Decoding for a transcription needs no place here: it runs while its job has a turn of
Whisper, and a core that waited for it would be lost to everybody.
"""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import TypeVar
from uuid import UUID

from sederunt.accounting import Ledger, Rate
from sederunt.model.budgets import BUDGETS

BUDGET, LASTING = "readers", "reading_s"
LEAST_PLACES = 4
GIVES_WAY = 19  # the most that nice(2) allows


Read = TypeVar("Read")


async def until_read(act: Callable[..., Read]) -> Read:
    """Return what a blocking act reads in a thread; a cancelled caller still waits for the thread to end.

    A thread cannot be cancelled: a place returned earlier would be lent to one reader too many.

    Args:
        act: called with `left`, an event that is set once the result is no longer needed.
    """
    left = threading.Event()
    task = asyncio.ensure_future(asyncio.to_thread(act, left=left))
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancellation = error
            left.set()
    if cancellation is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # marks it as retrieved
    raise cancellation


class Readers:
    """Lends one process's places for readers of callers' files. Belongs to its event loop.

    Args:
        places: readers at once, for all accounts.
        now: monotonic seconds.
    """

    def __init__(self, ledger: Ledger, places: int | None = None, now: Callable[[], float] = monotonic) -> None:
        self._ledger, self._now = ledger, now
        self._places = places or max(LEAST_PLACES, 2 * (os.cpu_count() or 1))
        self._lasting = Rate(ledger.limit(LASTING), BUDGETS[LASTING].per_s, now)
        self._waiting: list[tuple[UUID, asyncio.Future[None]]] = []  # in order of request
        self._running: Counter[UUID] = Counter()

    @asynccontextmanager
    async def place(self, account: UUID) -> AsyncIterator[int]:
        """Wait for a place, and lend it; yields how much its reader should give way (nice(2))."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((account, turn))
        self._lend()
        if not turn.done():
            self._ledger.refuse(BUDGET)
        try:
            await turn
            began_s = self._now()
            try:
                yield self.gives_way(account)
            finally:
                self._lasting.charge(account, self._now() - began_s)
        finally:
            if turn.done() and not turn.cancelled():
                self._running -= Counter([account])
                self._ledger.give_back(BUDGET, account)
            self._lend()

    def gives_way(self, account: UUID) -> int:
        """Return 0 for an account with little recent reading, else the most that a process can give way."""
        return 0 if self._lasting.charge(account, 0) else GIVES_WAY

    def _lend(self) -> None:
        """Give free places to the accounts with the fewest by weight, in order of request."""
        self._waiting = [(account, turn) for account, turn in self._waiting if not turn.done()]  # some were cancelled
        while self._waiting and self._running.total() < self._places:
            eligible = [
                request
                for request in self._waiting
                if self._running[request[0]] + 1 <= self._ledger.share(BUDGET, request[0])
            ]
            if not eligible:
                return
            account, turn = min(
                eligible, key=lambda request: self._running[request[0]] / self._ledger.weight_of(request[0])
            )
            self._waiting.remove((account, turn))
            self._running[account] += 1
            self._ledger.take(BUDGET, account)
            turn.set_result(None)
