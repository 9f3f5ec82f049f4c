"""The secret each account's webhooks are signed with, in the form of Standard Webhooks (`whsec_` and base64)."""

import base64
import secrets
from uuid import UUID

from sederunt.accounts.sealing import Sealer
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database

_PLACE = ("accounts", "webhook_secret")
_BYTES = 32


class WebhookSecrets:
    """One secret per account, made when it is first asked for."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._accounts = Accounts(database)
        self._sealer = sealer

    async def get(self, account_id: UUID) -> str:
        """The account's secret. Raises NotFound."""
        sealed = await self._accounts.webhook_secret(account_id)
        if sealed is None:
            # Two processes may both see none: the first to write wins, and both read what was written.
            await self._accounts.set_webhook_secret(account_id, self._fresh(account_id), replace=False)
            sealed = await self._accounts.webhook_secret(account_id)
            assert sealed is not None
        return self._sealer.open(sealed, *_PLACE, account_id)

    async def renew(self, account_id: UUID) -> str:
        """A new one in place of the old, which stops working at once. Raises NotFound."""
        await self._accounts.set_webhook_secret(account_id, self._fresh(account_id), replace=True)
        return await self.get(account_id)

    def _fresh(self, account_id: UUID) -> bytes:
        text = "whsec_" + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
        return self._sealer.seal(text, *_PLACE, account_id)
