"""Limit how much time a process spends on one account's long bodies, during which every other caller waits.

The bytes that an account sends and receives are counted. Beyond a generous allowance they are limited to a rate, so
that other callers are served in between.
"""

import asyncio
import math
from uuid import UUID
from weakref import WeakValueDictionary

from sederunt.accounting import Ledger, Rate
from sederunt.clock import Clock
from sederunt.errors import TooManyRequests
from sederunt.model.budgets import BUDGETS

LONGEST_S = 10.0  # a request waits no longer before work on it begins
_BULK = BUDGETS["bulk_bytes"]


class BulkShare:
    """Counts and spaces the bytes of each account, in one process."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock
        self._rate = Rate(_BULK.default, _BULK.per_s, clock.monotonic)
        self._looks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def begin(self, account_id: UUID, size: int) -> None:
        """Count `size` bytes and wait until earlier ones are paid. Raises TooManyRequests if that takes too long."""
        behind_s = self._rate.behind_s(account_id)
        if behind_s > LONGEST_S:
            self._ledger.refuse(_BULK.name)
            sentence = "This account sends, or is told, too much at once: try again in a moment."
            raise TooManyRequests(sentence, math.ceil(behind_s), _BULK.name)
        self.count(account_id, size)
        if behind_s:
            await self._clock.sleep(behind_s)

    def look(self, account_id: UUID) -> asyncio.Lock:
        """Return the account's lock for list queries: only a few run at once for all accounts together."""
        return self._looks.setdefault(account_id, asyncio.Lock())

    async def go_on(self, account_id: UUID, size: int) -> None:
        """Count `size` bytes of an answer that has begun, and wait until they are paid."""
        self.count(account_id, size)
        if behind_s := self._rate.behind_s(account_id):
            await self._clock.sleep(behind_s)

    def count(self, account_id: UUID, size: int) -> None:
        """Count `size` bytes, divided by the account's weight."""
        self._rate.charge(account_id, size / self._ledger.weight_of(account_id))
