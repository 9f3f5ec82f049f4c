"""Open sockets of this process by holder: an address works as long as the key, or session, that it was given to, and
only where that may read. Every socket tells what is said in a meeting; one that takes orders needs `live` as well.

A key may be revoked in another process, or by a command, and a person be removed. While sockets are open, their holders
are looked at twice a second.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from sederunt import log
from sederunt.accounting import Ledger, Rate
from sederunt.accounts.keys import Caller, Scope, scopes_of
from sederunt.accounts.sign_in import SignIns
from sederunt.bus.tasks import end
from sederunt.database.accounts import Accounts
from sederunt.errors import TooManyRequests, Unauthorized
from sederunt.model.budgets import count_of

LOOK_S = 0.5
AGAIN_S = 30  # what a caller is told that has too many sockets
_KEY_BYTES = 16  # of a key's id; the digest of a session is longer

logger = log.get(component="api")


@dataclass(frozen=True, slots=True)
class _Holder:
    """The key or session that a socket's address was given to."""

    account_id: UUID
    name: bytes  # a key's id, or the digest of a session
    needs: frozenset[Scope]  # to keep the socket


class SocketHolders:
    """Counts the open sockets of each account, and ends those whose holder has lost its access.

    Args:
        ledger: where the sockets of each account are counted.
        now: monotonic seconds.
    """

    def __init__(
        self, accounts: Accounts, sign_ins: SignIns, ledger: Ledger, now: Callable[[], float] = monotonic
    ) -> None:
        self.frames = Rate.per_minute(count_of("account_frames"), now)  # of each account: many sockets say much
        self._accounts, self._sign_ins, self._ledger = accounts, sign_ins, ledger
        self._held: dict[_Holder, tuple[asyncio.Event, int]] = {}  # holder → (it is over, sockets)
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, account_id: UUID, name: bytes, *, acts: bool) -> AsyncIterator[asyncio.Event]:
        """Provide an event that is set once a key is revoked or expired, or a session over, while a socket is open.

        Raises Unauthorized for a holder that is so already, or lacks a scope, TooManyRequests where the account has too
        many sockets.

        Args:
            name: of the holder, as its address tells it.
            acts: whether the socket takes orders, which a person may lose the right to.
        """
        holder = _Holder(account_id, name, frozenset({Scope.READ, Scope.LIVE} if acts else {Scope.READ}))
        if not await self._is_let_in(holder):
            raise Unauthorized
        if not self._ledger.has_room("sockets", account_id):
            most = self._ledger.most("sockets")
            sentence = f"This account has {most:g} sockets open: close some of them first."
            raise TooManyRequests(sentence, AGAIN_S, "sockets")
        with self._ledger.holding("sockets", account_id):
            async with self._holding(holder) as revocation:
                yield revocation

    @asynccontextmanager
    async def _holding(self, holder: _Holder) -> AsyncIterator[asyncio.Event]:
        revocation, sockets = self._held.get(holder, (asyncio.Event(), 0))
        self._held[holder] = revocation, sockets + 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again_and_again())
        try:
            yield revocation
        finally:
            revocation, sockets = self._held.pop(holder)
            if sockets > 1:
                self._held[holder] = revocation, sockets - 1
            if not self._held:
                watcher, self._looking = self._looking, None
                await end(watcher)

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)  # of the machine's own time: a key expires by the database's
            try:
                await self.look()
            except Exception as error:  # the database is away: asked again in a moment
                logger.warning("holders of sockets cannot be looked at", action="holders_unread", error=str(error))

    async def look(self) -> None:
        """Tell the sockets whose holder may not have them any more."""
        for holder, (revocation, _) in list(self._held.items()):
            if not revocation.is_set() and not await self._is_let_in(holder):
                revocation.set()

    async def refuse_who_is_over(self, caller: Caller) -> None:
        """Raise Unauthorized where a caller's key was revoked, or the session ended, while their request lasted."""
        if not await self._is_let_in(_Holder(caller.account_id, caller.holder, frozenset())):
            raise Unauthorized

    async def _is_let_in(self, holder: _Holder) -> bool:
        if len(holder.name) == _KEY_BYTES:
            key = await self._accounts.working_key(holder.account_id, UUID(bytes=holder.name))
            scopes = scopes_of(key) if key is not None else frozenset()
        else:
            scopes = await self._sign_ins.scopes_of_session(holder.name, holder.account_id)
        return bool(scopes) and holder.needs <= scopes
