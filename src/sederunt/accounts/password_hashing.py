"""Hash passwords one at a time, in a thread of their own that gives way to all others.

Argon2 takes 64 MiB and all cores for a good part of a tenth of a second, and a sign-in that causes it needs no key.
"""

import asyncio
import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sederunt.accounting import Ledger
from sederunt.errors import TooManyRequests

LONGEST_PASSWORD = 1000
WAIT_S = 5.0  # for a turn
NICENESS = 10  # nice(2): a person waits for it, but no meeting and no other request

_BUDGET, _AGAIN_S = "password_checks", 5
_FULL = "Too many people sign in right now: try again in a moment."
R = TypeVar("R")


class PasswordHashing:
    """One process's only way to Argon2.

    Args:
        ledger: counts the calls that wait.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "passwords", initializer=_give_way)

    async def hash(self, password: str) -> str:
        """Return the hash of a password. Raises TooManyRequests."""
        return await self._run(lambda: _hasher().hash(password))

    async def fits(self, hashed: str | None, password: str) -> bool:
        """Return whether a password fits its hash; False for no hash, after the same work. Raises TooManyRequests."""
        return await self._run(lambda: _verified(hashed or _nobodys_hash(), password))

    async def _run(self, work: Callable[[], R]) -> R:
        with self._ledger.place(_BUDGET, _BUDGET, full=_FULL, again_s=_AGAIN_S):
            try:
                async with asyncio.timeout(WAIT_S):
                    await self._turn.acquire()
            except TimeoutError:
                self._ledger.refuse(_BUDGET)
                raise TooManyRequests(_FULL, _AGAIN_S, _BUDGET) from None
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, work)
            finally:
                self._turn.release()


def _give_way() -> None:
    """Lower the priority of this thread, and so of the threads that Argon2 starts."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@lru_cache(maxsize=1)
def _nobodys_hash() -> str:
    return _hasher().hash(secrets.token_urlsafe(16))


def _verified(hashed: str, password: str) -> bool:
    try:
        return _hasher().verify(hashed, password[: LONGEST_PASSWORD + 1])
    except (VerificationError, InvalidHashError):
        return False
