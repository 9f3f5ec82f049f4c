"""What a caller must be allowed to do: each route names one permission."""

from typing import Literal

from sederunt.accounts.keys import EVERYTHING, Caller, Scope
from sederunt.errors import Forbidden

Permission = Literal["read", "write", "live", "manage"]


def refuse_unpermitted(caller: Caller, needed: Permission) -> None:
    """Raise Forbidden where a key may not do this. Who manages the account must be allowed everything."""
    if needed == "manage":
        if caller.scopes != EVERYTHING:
            raise Forbidden(f"This needs a key with every scope; this one has: {_told(caller)}.")
    elif Scope(needed) not in caller.scopes:
        raise Forbidden(f"This needs a key with the scope '{needed}'; this one has: {_told(caller)}.")


def _told(caller: Caller) -> str:
    return ", ".join(sorted(caller.scopes)) or "none"
