"""Credentials of vendors and meeting accounts, their secrets sealed. `accounts/` opens them."""

import math
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select, true, update

from sederunt.database import tables as t
from sederunt.database.engine import Database
from sederunt.database.paging import ListPage, ListPageRequest, read_page
from sederunt.database.queries import id_parameter
from sederunt.database.row_limits import refuse_more_rows
from sederunt.errors import NotFound


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCredential:
    """A caller's vendor key, without the key itself."""

    id: UUID
    account_id: UUID
    provider: str  # a name of transcription.models.providers()
    hint: str  # its last characters
    region: str | None
    organisation: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CredentialRow(ListedCredential):
    key: bytes  # sealed


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedMeetingAccount:
    """An account with which a bot can sign in, without its secret, which may have megabytes."""

    id: UUID
    account_id: UUID
    service: str
    email: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingAccountRow(ListedMeetingAccount):
    secret: bytes  # sealed


class Vault:
    """The store of sealed things. Every query names its account."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._credentials = database.query(_listed(t.credentials, ListedCredential))
        self._credential = database.query(_of_account(t.credentials).where(t.credentials.c.id == id_parameter("id")))
        self._meeting_accounts = database.query(_listed(t.meeting_accounts, ListedMeetingAccount))
        self._meeting_account = database.query(
            _of_account(t.meeting_accounts).where(t.meeting_accounts.c.id == id_parameter("id"))
        )

    async def add_credential(self, row: CredentialRow, *, most: float = math.inf) -> None:
        """Store a credential. Raises LimitReached if its account has `most`."""
        await self._add(t.credentials, row, "credentials", most)

    async def credentials(self, account_id: UUID) -> list[ListedCredential]:
        """Return the account's credentials, oldest first."""
        return [ListedCredential(**row) for row in await self._credentials.all(account=account_id)]

    async def credential_page(self, account_id: UUID, page: ListPageRequest) -> ListPage[ListedCredential]:
        """Return a page of the account's credentials. Raises InvalidConfig for a foreign cursor."""
        statement = _columns(t.credentials, ListedCredential).where(t.credentials.c.account_id == account_id)
        return await read_page(self._database, statement, t.credentials, page, lambda row: ListedCredential(**row))

    async def credential(self, credential_id: UUID, account_id: UUID) -> CredentialRow:
        """Return a credential. Raises NotFound."""
        row = await self._credential.first(id=credential_id, account=account_id)
        if row is None:
            raise NotFound("There is no credential with this id.")
        return CredentialRow(**row)

    async def remove_credential(self, credential_id: UUID, account_id: UUID) -> None:
        """Delete a credential. Raises NotFound."""
        if not await self._remove(t.credentials, credential_id, account_id):
            raise NotFound("There is no credential with this id.")

    async def add_meeting_account(self, row: MeetingAccountRow, *, most: float = math.inf) -> None:
        """Store a meeting account. Raises LimitReached if its account has `most`."""
        await self._add(t.meeting_accounts, row, "meeting_accounts", most)

    async def meeting_accounts(self, account_id: UUID) -> list[ListedMeetingAccount]:
        """Return the account's meeting accounts, oldest first."""
        return [ListedMeetingAccount(**row) for row in await self._meeting_accounts.all(account=account_id)]

    async def meeting_account_page(self, account_id: UUID, page: ListPageRequest) -> ListPage[ListedMeetingAccount]:
        """Return a page of the account's meeting accounts. Raises InvalidConfig for a foreign cursor."""
        statement = _columns(t.meeting_accounts, ListedMeetingAccount).where(
            t.meeting_accounts.c.account_id == account_id
        )
        return await read_page(
            self._database, statement, t.meeting_accounts, page, lambda row: ListedMeetingAccount(**row)
        )

    async def meeting_account(self, meeting_account_id: UUID, account_id: UUID) -> MeetingAccountRow:
        """Return a meeting account. Raises NotFound."""
        row = await self._meeting_account.first(id=meeting_account_id, account=account_id)
        if row is None:
            raise NotFound("There is no meeting account with this id.")
        return MeetingAccountRow(**row)

    async def renew_meeting_account(self, meeting_account_id: UUID, account_id: UUID, secret: bytes) -> None:
        """Replace the sealed secret. Raises NotFound."""
        conditions = (t.meeting_accounts.c.id == meeting_account_id, t.meeting_accounts.c.account_id == account_id)
        statement = update(t.meeting_accounts).where(*conditions)
        async with self._database.begin() as connection:
            values = {"secret": secret, "updated_at": self._database.clock.now()}
            if not (await connection.execute(statement.values(values))).rowcount:
                raise NotFound("There is no meeting account with this id.")

    async def remove_meeting_account(self, meeting_account_id: UUID, account_id: UUID) -> None:
        """Delete a meeting account. Raises NotFound."""
        if not await self._remove(t.meeting_accounts, meeting_account_id, account_id):
            raise NotFound("There is no meeting account with this id.")

    async def _add(self, table: Any, row: CredentialRow | MeetingAccountRow, budget: str, most: float) -> None:
        async with self._database.begin() as connection:
            await refuse_more_rows(connection, budget, most, row.account_id, (table, true()))
            await connection.execute(insert(table).values(asdict(row)))

    async def _remove(self, table: Any, row_id: UUID, account_id: UUID) -> bool:
        async with self._database.begin() as connection:
            statement = delete(table).where(table.c.id == row_id, table.c.account_id == account_id)
            return bool((await connection.execute(statement)).rowcount)


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed secrets, the column that its seal names, and what people call its content."""

    table: str
    column: str
    row: str
    told: str


SEALED_COLUMNS = (
    SealedColumn("accounts", "webhook_secret", "id", "webhook secrets (receivers need the new ones)"),
    SealedColumn("accounts", "webhook_secret_before", "id", "webhook secrets that were renewed"),
    SealedColumn("credentials", "key", "id", "vendor credentials (to be added again, under new ids)"),
    SealedColumn("meeting_accounts", "secret", "id", "meeting accounts (to be added again, under new ids)"),
    SealedColumn("calendar_feeds", "address", "id", "calendar feeds (to be added again; their bots stay)"),
    SealedColumn("bots", "zak", "id", "tokens of single bots"),
    SealedColumn("house_secrets", "value", "name", "secrets behind all API keys and all addresses of files handed out"),
)


async def sealed_values(database: Database, place: SealedColumn) -> list[tuple[Any, bytes]]:
    """Return (row id, sealed value) of every secret in a column."""
    table = t.metadata.tables[place.table]
    statement = select(table.c[place.row], table.c[place.column]).where(table.c[place.column].is_not(None))
    rows = await database.query(statement).all()
    return [(row[place.row], bytes(row[place.column])) for row in rows]


async def replace_sealed(database: Database, place: SealedColumn, row: Any, old: bytes, new: bytes) -> bool:
    """Put `new` in place of `old`; False if somebody changed it meanwhile."""
    table = t.metadata.tables[place.table]
    statement = update(table).where(table.c[place.row] == row, table.c[place.column] == old)
    async with database.begin() as connection:
        return bool((await connection.execute(statement.values({place.column: new}))).rowcount)


async def holds_sealed(database: Database) -> bool:
    """Return whether any secret is sealed."""
    for place in SEALED_COLUMNS:
        column = t.metadata.tables[place.table].c[place.column]
        if await database.query(select(column).where(column.is_not(None)).limit(1)).first() is not None:
            return True
    return False


async def remove_sealed(database: Database, place: SealedColumn, row: Any, sealed: bytes) -> None:
    """Remove a secret if it is still there: only the value if the column is nullable, else the row."""
    table = t.metadata.tables[place.table]
    conditions = (table.c[place.row] == row, table.c[place.column] == sealed)
    statement = update(table).where(*conditions).values({place.column: None})
    async with database.begin() as connection:
        await connection.execute(statement if table.c[place.column].nullable else delete(table).where(*conditions))


def _of_account(table: Any) -> Any:
    return select(table).where(table.c.account_id == id_parameter("account"))


def _columns(table: Any, record: type[Any]) -> Any:
    return select(*(table.c[field.name] for field in fields(record)))


def _listed(table: Any, record: type[Any]) -> Any:
    statement = _columns(table, record).where(table.c.account_id == id_parameter("account"))
    return statement.order_by(table.c.created_at, table.c.id)
