"""Delay answers to callers that are refused again and again, before anything is looked up for them.

A refusal costs nearly as much as an answer, and is charged to nobody's budget of requests: a flood of them took a core.
Of a caller whose key or session was found good, a request that is not valid is charged to that budget, and no refusal.
They are counted by the caller's key, or session, where that was good lately; so an address that others attack from as
well, such as a proxy's, costs those nothing who have a key. All others are counted by their address. Key and
session are read as the checks of both read them: whatever else a request says, it is the same caller's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address
from time import monotonic
from typing import Literal

from starlette.requests import HTTPConnection
from starlette.types import Scope

from sederunt.accounting import Rate
from sederunt.api.access.auth import bearer_key
from sederunt.api.access.sessions import session_token
from sederunt.errors import Unauthorized
from sederunt.model.budgets import BUDGETS, Budget

LONGEST_S = 5.0  # nobody is kept waiting longer; then the answer is 429, and the connection's end
MOST_WAITING = 1_000  # callers of one process; beyond that nobody is kept
MOST_KNOWN = 10_000  # keys and sessions
REFUSALS: Budget = BUDGETS["refusals"]

_REFUSED = frozenset({401, 403, 404, 405, 429})

Shown = Literal["key", "session"]
Holder = str | int  # an address, or the hash of what was good lately


class RefusalDelay:
    """Counts refusals for one process.

    Args:
        now: monotonic seconds.
        pause: waits for so many seconds.
    """

    def __init__(
        self, now: Callable[[], float] = monotonic, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._rate = Rate(REFUSALS.default, REFUSALS.per_s, now)
        self._pause = pause
        self._good: dict[Holder, None] = {}  # hashes of credentials, those heard of last at the end
        self._waiting = 0

    def holder(self, scope: Scope) -> Holder | None:
        """Return by what a request's refusals are counted; None for one that comes from this process itself."""
        if not scope.get("client"):
            return None
        return next(
            (credential for credential in _shown(scope).values() if credential in self._good),
            network_of(scope["client"][0]),
        )

    async def lets_pass(self, holder: Holder) -> bool:
        """Wait until it is the holder's turn, where it was refused too often; False where that is too far away."""
        behind_s = self._rate.behind_s(holder)
        if not behind_s:
            return True
        if self._waiting < MOST_WAITING:
            self._waiting += 1
            try:
                await self._pause(min(behind_s, LONGEST_S))
            finally:
                self._waiting -= 1
        return behind_s <= LONGEST_S

    def answered(self, scope: Scope, holder: Holder, status: int, *, good: Shown | None) -> None:
        """Count an answer; `good` says which of the things that the request shows was found good."""
        if status in _REFUSED or (good is None and 400 <= status < 500):
            self._rate.charge(holder, 1)
        if status == 401:
            self._good.pop(holder, None)
        elif good is not None:
            credential = _shown(scope)[good]
            self._good.pop(credential, None)
            self._good[credential] = None
            if len(self._good) > MOST_KNOWN:
                del self._good[next(iter(self._good))]


def _shown(scope: Scope) -> dict[Shown, int]:
    """Return a number for each key or session that a request shows; nothing secret is kept."""
    connection = HTTPConnection(scope)
    credentials: dict[Shown, int] = {}
    with suppress(Unauthorized):
        credentials["key"] = hash(bearer_key(connection.headers.get("authorization")))
    if token := session_token(connection):
        credentials["session"] = hash(token)
    return credentials


def network_of(address: str) -> str:
    """Return an address as its caller is counted: one caller has 2^64 of the sixth version."""
    if ":" not in address:
        return address
    try:
        return ip_address(address.partition("%")[0]).exploded[:19]
    except ValueError:
        return address
