"""An account's share of the time in which a process reads and writes what is long, while every other caller waits.

What an account sends and is told is counted in bytes: beyond a good stock of them it comes at a rate, so that others
are served in between.
"""

import asyncio
import math
from uuid import UUID
from weakref import WeakValueDictionary

from sederunt.accounting import Ledger, Rate
from sederunt.clock import Clock
from sederunt.errors import TooManyRequests
from sederunt.model.budgets import BUDGETS

LONGEST_S = 10.0  # that a request waits before anything is done for it
_BULK = BUDGETS["bulk_bytes"]


class BulkShare:
    """Counts and spaces the bytes of each account, in one process."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock
        self._rate = Rate(_BULK.default, _BULK.per_s, clock.monotonic)
        self._looks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def begin(self, account_id: UUID, size: int) -> None:
        """Count so many bytes, and wait until those before them are paid. Raises TooManyRequests where that is long."""
        behind_s = self._rate.behind_s(account_id)
        if behind_s > LONGEST_S:
            self._ledger.refuse(_BULK.name)
            sentence = "This account sends, or is told, too much at once: try again in a moment."
            raise TooManyRequests(sentence, math.ceil(behind_s), _BULK.name)
        self.count(account_id, size)
        if behind_s:
            await self._clock.sleep(behind_s)

    def look(self, account_id: UUID) -> asyncio.Lock:
        """Return the account's turn to look for the rows of a list: few of all accounts can be looked for at once."""
        return self._looks.setdefault(account_id, asyncio.Lock())

    async def go_on(self, account_id: UUID, size: int) -> None:
        """Count so many bytes of what has begun, and wait until they are paid."""
        self.count(account_id, size)
        if behind_s := self._rate.behind_s(account_id):
            await self._clock.sleep(behind_s)

    def count(self, account_id: UUID, size: int) -> None:
        """Count so many bytes; an account that counts for several has as many times as many."""
        self._rate.charge(account_id, size / self._ledger.weight_of(account_id))
