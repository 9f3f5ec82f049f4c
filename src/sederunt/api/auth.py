"""Who a request comes from: the bearer key in its header, and whether that key has requests left."""

from dataclasses import dataclass

from sederunt.accounting import Ledger, Rate
from sederunt.accounts.keys import Caller, Keys
from sederunt.errors import TooManyRequests, Unauthorized


@dataclass(frozen=True, slots=True)
class Auth:
    """Checks keys and counts requests."""

    keys: Keys
    limit: Rate
    ledger: Ledger

    async def caller(self, header: str | None) -> Caller:
        """Return the caller that an Authorization header names. Raises Unauthorized, TooManyRequests."""
        caller = await self.keys.caller(bearer_key(header))
        wait_s = self.limit.wait_s(caller.key_id)
        if wait_s:
            self.ledger.refuse("requests")
            raise TooManyRequests(f"Too many requests with this key: try again in {wait_s} s.", wait_s, "requests")
        return caller


def bearer_key(header: str | None) -> str:
    """Return the key in "Bearer <key>". Raises Unauthorized."""
    scheme, _, key = (header or "").strip().partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise Unauthorized
    return key
