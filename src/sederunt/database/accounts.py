"""Accounts (tenants) and what belongs to them: API keys, capacity, sealed secrets. `accounts/` does the sealing."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from sederunt.database import tables as t
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.paging import ListPage, ListPageRequest, read_page
from sederunt.database.queries import id_parameter
from sederunt.database.row_limits import refuse_more_rows
from sederunt.errors import InvalidConfig, NotFound


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A tenant."""

    id: UUID
    name: str
    created_at: datetime
    reserved: int  # bots booked ahead


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A key without its secret."""

    id: UUID
    account_id: UUID
    name: str
    prefix: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    scopes: str  # words of accounts.keys.Scope, with blanks between them
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedSecrets:
    """The secrets that sign an account's webhooks: the newest, and for a while the previous one."""

    newest: bytes | None  # None if there is none yet
    before: bytes | None = None
    before_until: datetime | None = None


class Accounts:
    """The store of accounts and their API keys."""

    def __init__(self, database: Database) -> None:
        self._database = database
        columns = [t.accounts.c[name] for name in ("id", "name", "created_at", "reserved")]
        self._all = database.query(select(*columns).order_by(t.accounts.c.created_at, t.accounts.c.id))
        self._one = database.query(select(*columns).where(t.accounts.c.id == id_parameter("id")))
        self._named = database.query(select(*columns).where(t.accounts.c.name == bindparam("name")))
        secrets = ("webhook_secret", "webhook_secret_before", "webhook_secret_before_until")
        self._webhook_secrets = database.query(
            select(*(t.accounts.c[name] for name in secrets)).where(t.accounts.c.id == id_parameter("id"))
        )
        keys = select(*(column for column in t.api_keys.c if column.key != "digest"))
        self._keys = database.query(
            keys.where(t.api_keys.c.account_id == id_parameter("id")).order_by(t.api_keys.c.created_at)
        )
        self._listed_keys = keys
        self._key_by_id = database.query(
            keys.where(t.api_keys.c.id == id_parameter("key_id"), t.api_keys.c.revoked_at.is_(None))
        )
        self._key = database.query(
            keys.where(
                t.api_keys.c.digest == bindparam("digest", type_=t.api_keys.c.digest.type),
                t.api_keys.c.revoked_at.is_(None),
            )
        )

    async def prove_writable(self) -> float | None:
        """Write a row unchanged. Returns the database's time in Unix seconds, None if it has no clock of its own.

        Raises what the driver raises.
        """
        statement = update(t.accounts).where(t.accounts.c.id == self._database.default_account_id)
        async with self._database.begin() as connection:
            await connection.execute(statement.values(reserved=t.accounts.c.reserved))
            return await self._database.time_s(connection)

    async def create(self, name: str) -> Account:
        """Create an account. Raises InvalidConfig if the name is taken."""
        account = Account(id=new_id(self._now()), name=name, created_at=self._now(), reserved=0)
        try:
            async with self._database.begin() as connection:
                await connection.execute(
                    insert(t.accounts).values(id=account.id, name=name, created_at=account.created_at)
                )
        except IntegrityError:
            raise InvalidConfig({"name": [f"There is an account named '{name}' already."]}) from None
        return account

    async def all(self) -> list[Account]:
        """Return all accounts, oldest first."""
        return [Account(**row) for row in await self._all.all()]

    async def get(self, account_id: UUID) -> Account:
        """Return one account. Raises NotFound."""
        return _account(await self._one.first(id=account_id))

    async def named(self, name: str) -> Account:
        """Return the account of this name. Raises NotFound."""
        return _account(await self._named.first(name=name))

    async def reserve(self, account_id: UUID, count: int) -> Account:
        """Book `count` bots ahead. Raises NotFound."""
        async with self._database.begin() as connection:
            await connection.execute(update(t.accounts).where(t.accounts.c.id == account_id).values(reserved=count))
        return await self.get(account_id)

    # --- API keys ---

    async def add_key(self, key: ApiKey, digest: bytes, *, most: float = math.inf) -> None:
        """Store a key and its digest. Raises LimitReached if the account has `most` valid keys."""
        is_valid = and_(
            t.api_keys.c.revoked_at.is_(None),
            or_(t.api_keys.c.expires_at.is_(None), t.api_keys.c.expires_at > self._now()),
        )
        async with self._database.begin() as connection:
            await refuse_more_rows(connection, "api_keys", most, key.account_id, (t.api_keys, is_valid))
            await connection.execute(insert(t.api_keys).values(**asdict(key), digest=digest))

    async def keys(self, account_id: UUID) -> list[ApiKey]:
        """Return the account's keys, including revoked ones, oldest first."""
        return [ApiKey(**row) for row in await self._keys.all(id=account_id)]

    async def key_page(self, account_id: UUID, page: ListPageRequest) -> ListPage[ApiKey]:
        """Return a page of the account's keys, including revoked ones. Raises InvalidConfig for a foreign cursor."""
        own_keys = self._listed_keys.where(t.api_keys.c.account_id == account_id)
        return await read_page(self._database, own_keys, t.api_keys, page, lambda row: ApiKey(**row))

    async def working_key(self, account_id: UUID, key_id: UUID) -> ApiKey | None:
        """Return a key of an account; None if it is unknown, revoked or expired."""
        key = self._unexpired(await self._key_by_id.first(key_id=key_id))
        return key if key is not None and key.account_id == account_id else None

    async def valid_key(self, digest: bytes) -> ApiKey | None:
        """Return the key with this digest; None if it is unknown, revoked or expired."""
        return self._unexpired(await self._key.first(digest=digest))

    def _unexpired(self, row: Mapping[str, Any] | None) -> ApiKey | None:
        key = ApiKey(**row) if row else None
        return None if key is None or (key.expires_at and key.expires_at <= self._now()) else key

    async def touch_key(self, key_id: UUID) -> None:
        """Note that a key was used now."""
        async with self._database.begin() as connection:
            await connection.execute(
                update(t.api_keys).where(t.api_keys.c.id == key_id).values(last_used_at=self._now())
            )

    async def revoke_key(self, account_id: UUID, key_id: UUID) -> None:
        """Revoke a key. Requests with it are refused from now on. Raises NotFound; revoking twice does no harm."""
        conditions = (t.api_keys.c.id == key_id, t.api_keys.c.account_id == account_id)
        async with self._database.begin() as connection:
            result = await connection.execute(select(t.api_keys.c.id).where(*conditions))
            if result.first() is None:
                raise NotFound("There is no key with this id.")
            await connection.execute(
                update(t.api_keys).where(*conditions, t.api_keys.c.revoked_at.is_(None)).values(revoked_at=self._now())
            )

    async def revoke_all_keys(self) -> int:
        """Revoke the keys of every account. Returns how many were not revoked before."""
        is_valid = t.api_keys.c.revoked_at.is_(None)
        async with self._database.begin() as connection:
            statement = update(t.api_keys).where(is_valid).values(revoked_at=self._now())
            return int((await connection.execute(statement)).rowcount)

    async def expire_key(self, account_id: UUID, key_id: UUID, at: datetime) -> None:
        """Let a key expire at this moment, unless it expires earlier."""
        conditions = (t.api_keys.c.id == key_id, t.api_keys.c.account_id == account_id)
        expires_later = or_(t.api_keys.c.expires_at.is_(None), t.api_keys.c.expires_at > at)
        async with self._database.begin() as connection:
            await connection.execute(update(t.api_keys).where(*conditions, expires_later).values(expires_at=at))

    # --- sealed secrets that are made once ---

    async def webhook_secrets(self, account_id: UUID) -> SealedSecrets:
        """Return the sealed secrets that sign the account's webhooks. Raises NotFound."""
        row = await self._webhook_secrets.first(id=account_id)
        if row is None:
            raise NotFound("There is no account with this id.")
        return SealedSecrets(
            newest=row["webhook_secret"],
            before=row["webhook_secret_before"],
            before_until=row["webhook_secret_before_until"],
        )

    async def add_webhook_secret(self, account_id: UUID, sealed: bytes) -> None:
        """Keep a sealed secret if there is none yet, so that two processes agree."""
        conditions = (t.accounts.c.id == account_id, t.accounts.c.webhook_secret.is_(None))
        async with self._database.begin() as connection:
            await connection.execute(update(t.accounts).where(*conditions).values(webhook_secret=sealed))

    async def set_webhook_secrets(self, account_id: UUID, secrets: SealedSecrets) -> None:
        """Replace the account's webhook secrets."""
        values = {
            "webhook_secret": secrets.newest,
            "webhook_secret_before": secrets.before,
            "webhook_secret_before_until": secrets.before_until,
        }
        async with self._database.begin() as connection:
            await connection.execute(update(t.accounts).where(t.accounts.c.id == account_id).values(values))

    def _now(self) -> datetime:
        return self._database.clock.now()


class InstallationSecrets:
    """Sealed secrets that every process of one installation shares."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one = database.query(select(t.house_secrets.c.value).where(t.house_secrets.c.name == bindparam("name")))

    async def get(self, name: str) -> bytes | None:
        """Return the sealed value, or None if there is none yet."""
        row = await self._one.first(name=name)
        return bytes(row["value"]) if row else None

    async def add(self, name: str, sealed: bytes) -> bytes:
        """Keep a value unless there is one already. Returns the stored value."""
        dialect_insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        async with self._database.begin() as connection:
            statement = dialect_insert(t.house_secrets).values(name=name, value=sealed)
            await connection.execute(statement.on_conflict_do_nothing())
        stored_value = await self.get(name)
        assert stored_value is not None
        return stored_value


def _account(row: Mapping[str, Any] | None) -> Account:
    if row is None:
        raise NotFound("There is no such account.")
    return Account(**row)
