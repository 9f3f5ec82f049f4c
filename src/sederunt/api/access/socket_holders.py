"""Open sockets of this process by holder. A socket's address works only while the key or session that it was issued to
is valid and may read: every socket transmits what is said in a meeting. One that takes orders needs `live` as well.

A key may be revoked in another process or by a command, and a person may be removed. While sockets are open, their
holders are therefore checked twice a second.
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
AGAIN_S = 30  # Retry-After for a caller with too many sockets
_KEY_BYTES = 16  # of a key's id; the digest of a session is longer

logger = log.get(component="api")


@dataclass(frozen=True, slots=True)
class _Holder:
    """The key or session that a socket's address was issued to."""

    account_id: UUID
    name: bytes  # a key's id, or the digest of a session
    needs: frozenset[Scope]  # to keep the socket


class SocketHolders:
    """Counts the open sockets of each account, and ends those whose holder has lost access.

    Args:
        ledger: counts the sockets of each account.
        now: monotonic seconds.
    """

    def __init__(
        self, accounts: Accounts, sign_ins: SignIns, ledger: Ledger, now: Callable[[], float] = monotonic
    ) -> None:
        self.frames = Rate.per_minute(count_of("account_frames"), now)  # of each account, over all of its sockets
        self._accounts, self._sign_ins, self._ledger = accounts, sign_ins, ledger
        self._held: dict[_Holder, tuple[asyncio.Event, int]] = {}  # holder → (revocation, sockets)
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, account_id: UUID, name: bytes, *, acts: bool) -> AsyncIterator[asyncio.Event]:
        """Provide an event that is set when the key is revoked or expires, or the session ends, while a socket is open.

        Raises Unauthorized if that has happened already or a scope is missing, TooManyRequests if the account has too
        many sockets.

        Args:
            name: the holder's name, as in the socket's address.
            acts: whether the socket takes orders, a right that a person may lose.
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
            await asyncio.sleep(LOOK_S)  # real time, not the injected clock: keys expire by the database's time
            try:
                await self.look()
            except Exception as error:  # the database is away: the next round tries again
                logger.warning("holders of sockets cannot be looked at", action="holders_unread", error=str(error))

    async def look(self) -> None:
        """Set the events of sockets whose holder has lost access."""
        for holder, (revocation, _) in list(self._held.items()):
            if not revocation.is_set() and not await self._is_let_in(holder):
                revocation.set()

    async def refuse_who_is_over(self, caller: Caller) -> None:
        """Raise Unauthorized if the caller's key was revoked, or the session ended, during the request."""
        if not await self._is_let_in(_Holder(caller.account_id, caller.holder, frozenset())):
            raise Unauthorized

    async def _is_let_in(self, holder: _Holder) -> bool:
        if len(holder.name) == _KEY_BYTES:
            key = await self._accounts.working_key(holder.account_id, UUID(bytes=holder.name))
            scopes = scopes_of(key) if key is not None else frozenset()
        else:
            scopes = await self._sign_ins.scopes_of_session(holder.name, holder.account_id)
        return bool(scopes) and holder.needs <= scopes
