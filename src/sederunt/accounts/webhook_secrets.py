"""The secrets that sign each account's webhooks, in the form of Standard Webhooks (`whsec_` and base64)."""

import base64
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sederunt.accounts.sealing import Sealer
from sederunt.database.accounts import Accounts, SealedSecrets
from sederunt.database.engine import Database

_TABLE = "accounts"
_NEWEST, _BEFORE = "webhook_secret", "webhook_secret_before"
_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Secrets:
    """The secrets that sign an account's webhooks."""

    newest: str = field(repr=False)
    before: str | None = field(default=None, repr=False)  # signs beside the newest
    before_until: datetime | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """Return every secret that signs now, the newest first."""
        return (self.newest,) if self.before is None else (self.newest, self.before)


class WebhookSecrets:
    """One secret per account, made at the first request; two while receivers change over."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._accounts = Accounts(database)
        self._sealer = sealer
        self._clock = database.clock

    async def get(self, account_id: UUID) -> Secrets:
        """Return the account's secrets. Raises NotFound."""
        sealed = await self._accounts.webhook_secrets(account_id)
        if sealed.newest is None:
            # Two processes may both see none: the first to write wins, and both read its secret.
            await self._accounts.add_webhook_secret(account_id, self._seal(_fresh(), _NEWEST, account_id))
            sealed = await self._accounts.webhook_secrets(account_id)
        assert sealed.newest is not None
        newest = self._sealer.open(sealed.newest, _TABLE, _NEWEST, account_id)
        if sealed.before is None or sealed.before_until is None or sealed.before_until <= self._clock.now():
            return Secrets(newest=newest)
        before = self._sealer.open(sealed.before, _TABLE, _BEFORE, account_id)
        return Secrets(newest=newest, before=before, before_until=sealed.before_until)

    async def signing(self, account_id: UUID) -> tuple[str, ...]:
        """Return every secret that signs now, the newest first. Raises NotFound."""
        return (await self.get(account_id)).all

    async def renew(self, account_id: UUID, overlap: timedelta = timedelta()) -> Secrets:
        """Make a new secret. The old one also signs for a while longer. Raises NotFound."""
        current = await self.get(account_id)
        sealed = SealedSecrets(newest=self._seal(_fresh(), _NEWEST, account_id))
        if overlap:
            before = self._seal(current.newest, _BEFORE, account_id)
            sealed = SealedSecrets(newest=sealed.newest, before=before, before_until=self._clock.now() + overlap)
        await self._accounts.set_webhook_secrets(account_id, sealed)
        return await self.get(account_id)

    def _seal(self, text: str, column: str, account_id: UUID) -> bytes:
        return self._sealer.seal(text, _TABLE, column, account_id)


def _fresh() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
