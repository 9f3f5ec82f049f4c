"""What a caller must be allowed to do: each route names one permission."""

from typing import Literal

from sederunt.accounts.keys import Caller
from sederunt.errors import Forbidden

Permission = Literal["read", "write", "live", "manage"]


def refuse_unpermitted(caller: Caller, permission: Permission) -> None:
    """Raise Forbidden if the key or person lacks the permission."""
    if caller.manages if permission == "manage" else permission in caller.scopes:
        return
    if caller.person_id is not None:
        raise Forbidden("Your role does not allow this: ask an owner of the account.")
    if permission == "manage":
        raise Forbidden(f"This needs a key with the scope 'admin'; this one has: {_told(caller)}.")
    raise Forbidden(f"This needs a key with the scope '{permission}'; this one has: {_told(caller)}.")


def _told(caller: Caller) -> str:
    return ", ".join(sorted(caller.scopes)) or "none"
