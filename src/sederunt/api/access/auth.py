"""Identify the caller by the bearer key in the header, and check that the key has requests left."""

from dataclasses import dataclass
from uuid import UUID

from sederunt.accounting import Ledger, Rate
from sederunt.accounts.keys import Caller, Keys
from sederunt.errors import TooManyRequests, Unauthorized


@dataclass(frozen=True, slots=True)
class Auth:
    """Checks keys and counts requests."""

    keys: Keys
    limit: Rate  # of each key
    account_limit: Rate  # of all keys and sessions of an account
    ledger: Ledger

    async def caller(self, header: str | None) -> Caller:
        """Return the caller of an Authorization header. Raises Unauthorized, TooManyRequests."""
        caller = await self.keys.caller(bearer_key(header))
        self.count(caller)
        return caller

    def count(self, caller: Caller) -> None:
        """Count a request. Raises TooManyRequests if its key or its account has none left."""
        if caller.key_id is not None:
            self._charge(self.limit, caller.key_id, "requests", "with this key")
        self._charge(self.account_limit, caller.account_id, "account_requests", "of this account")

    def _charge(self, rate: Rate, holder: UUID, budget: str, owner: str) -> None:
        if wait_s := rate.wait_s(holder):
            self.ledger.refuse(budget)
            raise TooManyRequests(f"Too many requests {owner}: try again in {wait_s} s.", wait_s, budget)


def bearer_key(header: str | None) -> str:
    """Return the key in "Bearer <key>". Raises Unauthorized."""
    scheme, _, key = (header or "").strip().partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise Unauthorized
    return key
