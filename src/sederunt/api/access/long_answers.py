"""Queue requests that keep a core busy for seconds: one per account at a time, and a limited number waiting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from sederunt.accounting import Ledger

LONG_ANSWERS = "long_answers"
AGAIN_S = 5


class LongAnswers:
    """Counts and orders the long answers of each account, in one process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, account_id: UUID) -> AsyncIterator[None]:
        """Wait for the account's turn. Raises TooManyRequests if the queue is full."""
        sentence = (
            "Transcripts, searches, corrections and comparisons of this account are made one by one, and enough wait."
        )
        lock = self._locks.setdefault(account_id, asyncio.Lock())
        with self._ledger.place(LONG_ANSWERS, account_id, full=sentence, again_s=AGAIN_S):
            async with lock:
                yield
