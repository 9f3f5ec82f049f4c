"""Delay answers to callers that are refused again and again, before anything is looked up for them.

A refusal costs nearly as much as an answer but is charged to no request budget: a flood of refusals occupied a core.
An invalid request of a caller with a valid key or session is charged to the request budget and is no refusal.

Refusals are counted by key or session if it was valid recently, otherwise by address. Callers with a key are therefore
not slowed down by attackers who share their address, such as a proxy's. Key and session are parsed exactly as in
authentication, so that other headers cannot disguise a caller.
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

LONGEST_S = 5.0  # no caller waits longer: beyond that the answer is 429 and the connection is closed
MOST_WAITING = 1_000  # callers of one process; beyond that nobody is delayed
MOST_KNOWN = 10_000  # keys and sessions
REFUSALS: Budget = BUDGETS["refusals"]

_REFUSED = frozenset({401, 403, 404, 405, 429})

Shown = Literal["key", "session"]
Holder = str | int  # an address, or the hash of a recently valid credential


class RefusalDelay:
    """Counts refusals for one process.

    Args:
        now: monotonic seconds.
        pause: waits for a number of seconds.
    """

    def __init__(
        self, now: Callable[[], float] = monotonic, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._rate = Rate(REFUSALS.default, REFUSALS.per_s, now)
        self._pause = pause
        self._good: dict[Holder, None] = {}  # hashes of credentials, the most recent at the end
        self._waiting = 0

    def holder(self, scope: Scope) -> Holder | None:
        """Return the key under which refusals are counted; None for requests from this process itself."""
        if not scope.get("client"):
            return None
        return next(
            (credential for credential in _shown(scope).values() if credential in self._good),
            network_of(scope["client"][0]),
        )

    async def lets_pass(self, holder: Holder) -> bool:
        """Wait if the holder was refused too often; return False if the wait would be too long."""
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
        """Count an answer; `good` says which of the request's credentials was valid."""
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
    """Return a hash of each key or session in a request, so that nothing secret is stored."""
    connection = HTTPConnection(scope)
    credentials: dict[Shown, int] = {}
    with suppress(Unauthorized):
        credentials["key"] = hash(bearer_key(connection.headers.get("authorization")))
    if token := session_token(connection):
        credentials["session"] = hash(token)
    return credentials


def network_of(address: str) -> str:
    """Return the network under which an address is counted: for IPv6 its /64, all of which belongs to one caller."""
    if ":" not in address:
        return address
    try:
        return ip_address(address.partition("%")[0]).exploded[:19]
    except ValueError:
        return address
