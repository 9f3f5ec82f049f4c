"""API keys: made once, shown once, kept as a digest under a pepper."""

import asyncio
import hashlib
import hmac
import math
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sederunt import log
from sederunt.accounts.installation_secrets import PEPPER, installation_secret
from sederunt.accounts.sealing import Sealer
from sederunt.clock import Clock
from sederunt.database.accounts import Accounts, ApiKey
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.paging import ListPage, ListPageRequest
from sederunt.errors import NotFound, Unauthorized

logger = log.get(component="accounts")

_PREFIX = "sk_"
_SHOWN = 11  # characters of a key that lists show: "sk_" and 8 more of 43
_TRUSTED_S = 3.0  # how long an answer is cached: the longest time that a revoked key still works
_NOTED_EVERY = timedelta(minutes=1)  # the precision of `last_used_at`
_MOST_TRUSTED = 10_000


class Scope(StrEnum):
    """What a key may do."""

    READ = "read"  # look at everything, listen to meetings
    WRITE = "write"  # create, change, delete
    LIVE = "live"  # act in a running meeting: stop, chat, picture
    ADMIN = "admin"  # keys, credentials, meeting accounts, webhook secrets, people


EVERYTHING = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request."""

    account_id: UUID
    key_id: UUID | None  # None: a person's session
    name: str = ""  # of the key, or the person
    scopes: frozenset[Scope] = EVERYTHING
    manages: bool = True  # keys, credentials, webhook secrets, people
    person_id: UUID | None = None
    session: bytes = b""  # digest of a person's session token

    @property
    def holder(self) -> bytes:
        """Return the holder of socket addresses given to this caller: a key, or the session of a person."""
        return self.key_id.bytes if self.key_id else self.session


@dataclass(slots=True)
class _Trusted:
    caller: Caller
    until: float  # on the monotonic clock


def scopes_of(key: ApiKey) -> frozenset[Scope]:
    """Return what a key may do. Ignores scopes of newer versions."""
    return frozenset(scope for scope in Scope if scope in key.scopes.split())


class Keys:
    """The API keys: makes them, and finds the account of a key."""

    def __init__(self, database: Database, pepper: bytes, clock: Clock | None = None) -> None:
        self._accounts = Accounts(database)
        self._pepper = pepper
        self._clock = clock or database.clock
        self._trusted: dict[bytes, _Trusted] = {}
        self._notes: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, database: Database, sealer: Sealer, clock: Clock | None = None) -> "Keys":
        """Open the keys with the pepper of this installation."""
        return cls(database, await installation_secret(database, sealer, PEPPER), clock)

    async def create(
        self,
        account_id: UUID,
        name: str,
        *,
        scopes: Collection[Scope] = EVERYTHING,
        expires_at: datetime | None = None,
        most: float = math.inf,
    ) -> tuple[str, ApiKey]:
        """Make a key; return it with its stored form. It cannot be shown again.

        Raises LimitReached if the account has `most` working keys.
        """
        text = _PREFIX + secrets.token_urlsafe(32)
        now = self._clock.now()
        key = ApiKey(
            id=new_id(now),
            account_id=account_id,
            name=name,
            prefix=text[:_SHOWN],
            created_at=now,
            last_used_at=None,
            revoked_at=None,
            scopes=" ".join(scope for scope in Scope if scope in scopes),
            expires_at=expires_at,
        )
        await self._accounts.add_key(key, self._digest(text), most=most)
        logger.info("An API key was created.", action="key_created", key_id=str(key.id))
        return text, key

    async def of(self, account_id: UUID) -> list[ApiKey]:
        """Return the account's keys, oldest first."""
        return await self._accounts.keys(account_id)

    async def page(self, account_id: UUID, page: ListPageRequest) -> ListPage[ApiKey]:
        """Return a page of the account's keys. Raises InvalidConfig for a cursor that is not ours."""
        return await self._accounts.key_page(account_id, page)

    async def revoke(self, account_id: UUID, key_id: UUID) -> None:
        """Revoke a key: within 5 seconds no process accepts it any more. Raises NotFound."""
        await self._accounts.revoke_key(account_id, key_id)
        self._trusted.clear()
        logger.info("An API key was revoked.", action="key_revoked", key_id=str(key_id))

    async def rotate(
        self, account_id: UUID, key_id: UUID, overlap: timedelta, *, most: float = math.inf
    ) -> tuple[str, ApiKey]:
        """Make a key with the same scopes; return it with its stored form. The old key still works for `overlap`.

        The new key gets the lifetime that the old one was made with. Raises NotFound for a key that does not exist or
        has ended; LimitReached if the account has `most` working keys.
        """
        now = self._clock.now()
        old_key = await self._accounts.working_key(account_id, key_id)
        if old_key is None:
            raise NotFound("There is no key with this id that works: make a new one.")
        lifetime = None if old_key.expires_at is None else old_key.expires_at - old_key.created_at
        new_key = await self.create(
            account_id,
            old_key.name,
            scopes=scopes_of(old_key),
            expires_at=None if lifetime is None else now + lifetime,
            most=most,
        )
        await self._accounts.expire_key(account_id, key_id, now + overlap)
        self._trusted.clear()
        logger.info("An API key was rotated.", action="key_rotated", key_id=str(key_id))
        return new_key

    async def caller(self, text: str) -> Caller:
        """Return the owner of a key. Raises Unauthorized for one that is unknown, revoked or expired."""
        digest = self._digest(text)
        cached = self._trusted.get(digest)
        if cached is not None and cached.until > self._clock.monotonic():
            return cached.caller
        key = await self._accounts.valid_key(digest) if text.startswith(_PREFIX) else None
        if key is None:
            self._trusted.pop(digest, None)
            raise Unauthorized
        caller = Caller(key.account_id, key.id, key.name, scopes_of(key), Scope.ADMIN in scopes_of(key))
        if len(self._trusted) >= _MOST_TRUSTED:
            self._trusted.clear()
        self._trusted[digest] = _Trusted(caller=caller, until=self._clock.monotonic() + _TRUSTED_S)
        if key.last_used_at is None or self._clock.now() - key.last_used_at >= _NOTED_EVERY:
            note = asyncio.create_task(self._accounts.touch_key(key.id))
            self._notes.add(note)
            note.add_done_callback(self._noted)
        return caller

    async def close(self) -> None:
        """Wait until the last uses of keys are noted."""
        await asyncio.gather(*self._notes, return_exceptions=True)

    def _digest(self, text: str) -> bytes:
        return hmac.new(self._pepper, text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()

    def _noted(self, note: asyncio.Task[None]) -> None:
        self._notes.discard(note)
        if not note.cancelled() and note.exception() is not None:
            logger.warning("The use of a key could not be noted.", action="key_use_lost", error=str(note.exception()))
