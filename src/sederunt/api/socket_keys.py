"""Whose sockets are open in this process: an address works as long as the key that it was told to.

A key may be revoked in another process, or by a command. While sockets are open, their keys are looked at twice a
second.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from sederunt import log
from sederunt.accounting import Ledger
from sederunt.bus.tasks import end
from sederunt.database.accounts import Accounts
from sederunt.errors import TooManyRequests, Unauthorized

LOOK_S = 0.5
AGAIN_S = 30  # what a caller is told that has too many sockets

logger = log.get(component="api")


class SocketKeys:
    """Counts the open sockets of each account, and tells them when their key is good for nothing any more.

    Args:
        ledger: where the sockets of each account are counted.
    """

    def __init__(self, accounts: Accounts, ledger: Ledger) -> None:
        self._accounts, self._ledger = accounts, ledger
        self._held: dict[UUID, tuple[asyncio.Event, int]] = {}  # key → (it is over, sockets)
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, account_id: UUID, key_id: UUID | None) -> AsyncIterator[asyncio.Event]:
        """Provide an event that is set once the key is revoked or expired, for as long as a socket is open.

        Raises Unauthorized for a key that is so already, TooManyRequests where the account has too many sockets.
        """
        if key_id is not None and not await self._accounts.is_valid(account_id, key_id):
            raise Unauthorized
        if not self._ledger.has_room("sockets", account_id):
            most = self._ledger.most("sockets")
            sentence = f"This account has {most:g} sockets open: close some of them first."
            raise TooManyRequests(sentence, AGAIN_S, "sockets")
        with self._ledger.holding("sockets", account_id):
            if key_id is None:
                yield asyncio.Event()
            else:
                async with self._holding(account_id, key_id) as over:
                    yield over

    @asynccontextmanager
    async def _holding(self, account_id: UUID, key_id: UUID) -> AsyncIterator[asyncio.Event]:
        over, sockets = self._held.get(key_id, (asyncio.Event(), 0))
        self._held[key_id] = over, sockets + 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again_and_again())
        try:
            yield over
        finally:
            over, sockets = self._held.pop(key_id)
            if sockets > 1:
                self._held[key_id] = over, sockets - 1
            if not self._held:
                looking, self._looking = self._looking, None
                await end(looking)

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)  # of the machine's own time: a key expires by the database's
            try:
                await self.look()
            except Exception as error:  # the database is away: asked again in a moment
                logger.warning("keys of sockets cannot be looked at", action="socket_keys_unread", error=str(error))

    async def look(self) -> None:
        """Tell the sockets whose key is over."""
        for key_id, (over, _) in list(self._held.items()):
            if not over.is_set() and not await self._accounts.is_valid(None, key_id):
                over.set()
