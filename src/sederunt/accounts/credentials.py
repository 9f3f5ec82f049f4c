"""Vendors' keys that callers lend us, for the models they ask for."""

import math
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sederunt import log
from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.paging import ListPage, ListPageRequest
from sederunt.database.vault import CredentialRow, ListedCredential, Vault
from sederunt.errors import InvalidConfig
from sederunt.transcription.access import fits_header
from sederunt.transcription.models import providers

logger = log.get(component="accounts")

_HINT = 4  # last characters of a key that lists show


@dataclass(frozen=True, kw_only=True, slots=True)
class Credential:
    """A credential as lists show it."""

    id: UUID
    account_id: UUID
    provider: str
    hint: str
    region: str | None
    organisation: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCredential:
    """A credential with its key."""

    provider: str
    key: str = field(repr=False)
    region: str | None
    organisation: str | None


class CredentialStore:
    """The credentials of all accounts; each call names its account."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._vault = Vault(database)
        self._sealer = sealer
        self._clock = database.clock

    async def add(
        self,
        account_id: UUID,
        provider: str,
        key: str,
        *,
        region: str | None = None,
        organisation: str | None = None,
        most: float = math.inf,
    ) -> Credential:
        """Store a key. Raises InvalidConfig for an unknown provider, or one that takes no key; LimitReached if the
        account has `most` credentials.
        """
        names = [name for name, row in providers().items() if row.needs_key]
        if provider not in names:
            raise InvalidConfig({"provider": [f"'{provider}' is not one of: {', '.join(names)}."]})
        key = key.strip()
        if not key:
            raise InvalidConfig({"key": ["The key is empty."]})
        if not fits_header(key):
            raise InvalidConfig({"key": ["The key holds characters that no vendor's key has: expected visible ASCII."]})
        vendor = providers()[provider]
        if region and vendor.regions and region not in vendor.regions:
            raise InvalidConfig({"region": [f"'{region}' is not one of: {', '.join(vendor.regions)}."]})
        if vendor.needs_organisation and not organisation:
            raise InvalidConfig({"organisation": [f"{vendor.title} needs the organisation that the key belongs to."]})
        now = self._clock.now()
        row_id = new_id(now)
        row = CredentialRow(
            id=row_id,
            account_id=account_id,
            provider=provider,
            key=self._sealer.seal(key, "credentials", "key", row_id),
            hint=key[-_HINT:] if len(key) > 3 * _HINT else "",
            region=region,
            organisation=organisation,
            created_at=now,
        )
        await self._vault.add_credential(row, most=most)
        logger.info("A credential was added.", action="credential_added", credential_id=str(row_id), provider=provider)
        return _shown(row)

    async def of(self, account_id: UUID) -> list[Credential]:
        """Return the account's credentials, oldest first."""
        return [_shown(row) for row in await self._vault.credentials(account_id)]

    async def page(self, account_id: UUID, page: ListPageRequest) -> ListPage[Credential]:
        """Return a page of the account's credentials. Raises InvalidConfig for a cursor that is not ours."""
        row_page = await self._vault.credential_page(account_id, page)
        return ListPage(items=[_shown(row) for row in row_page.items], cursor=row_page.cursor)

    async def get(self, credential_id: UUID, account_id: UUID) -> Credential:
        """Return a credential without its key. Raises NotFound."""
        return _shown(await self._vault.credential(credential_id, account_id))

    async def open(self, credential_id: UUID, account_id: UUID) -> OpenCredential:
        """Return a credential with its key. Raises NotFound, SetupError if the sealing key is gone."""
        row = await self._vault.credential(credential_id, account_id)
        return OpenCredential(
            provider=row.provider,
            key=self._sealer.open(row.key, "credentials", "key", row.id),
            region=row.region,
            organisation=row.organisation,
        )

    async def remove(self, credential_id: UUID, account_id: UUID) -> None:
        """Remove a credential. Raises NotFound."""
        await self._vault.remove_credential(credential_id, account_id)
        logger.info("A credential was removed.", action="credential_removed", credential_id=str(credential_id))


def _shown(row: ListedCredential) -> Credential:
    return Credential(
        id=row.id,
        account_id=row.account_id,
        provider=row.provider,
        hint=row.hint,
        region=row.region,
        organisation=row.organisation,
        created_at=row.created_at,
    )
