"""Map the claims of an OpenID provider to a role in an account, or to none. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sederunt.accounts.sign_in import MemberRole
from sederunt.settings import OidcSettings

Claims = Mapping[str, Any]
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Membership:
    """A role in an account; `account` is its name, or None for the installation's first account."""

    account: str | None
    role: MemberRole


def membership_of(settings: OidcSettings, claims: Claims) -> Membership | None:
    """Return the account and role that the operator's rules give; None if they do not admit this person."""
    role = _claimed_role(settings, claims) or _first_role(settings, claims)
    if role is None:
        return None
    if settings.account_claim is None:
        return Membership(settings.account, role)
    names = [
        settings.accounts.get(value) if settings.accounts else value for value in _said(claims, settings.account_claim)
    ]
    account = next((name for name in names if name), settings.account)
    return Membership(account, role) if account is not None else None


def verified_email(claims: Claims) -> str | None:
    """Return the address that the provider has verified, in small letters."""
    email = claims.get("email")
    is_verified = claims.get("email_verified") in (True, "true")
    return email.strip().casefold()[:320] if is_verified and isinstance(email, str) and "@" in email else None


def name_of(claims: Claims) -> str:
    """Return a person's name."""
    candidates = (claims.get(name) for name in ("name", "preferred_username", "email", "sub"))
    first = next((word for word in candidates if isinstance(word, str) and word.strip()), "Somebody")
    return first.strip().replace("\0", "")[:LONGEST_NAME]


def _claimed_role(settings: OidcSettings, claims: Claims) -> MemberRole | None:
    if settings.role_claim is None:
        return None
    roles = settings.roles or {role.value: role.value for role in MemberRole}
    claimed_roles = {roles[value] for value in _said(claims, settings.role_claim) if value in roles}
    return next((role for role in MemberRole if role.value in claimed_roles), None)


def _first_role(settings: OidcSettings, claims: Claims) -> MemberRole | None:
    if settings.first_role is None:
        return None
    if settings.email_domains:
        domain = (verified_email(claims) or "").rpartition("@")[2]
        if domain not in {allowed_domain.casefold() for allowed_domain in settings.email_domains}:
            return None
    return MemberRole(settings.first_role)


def _said(claims: Claims, path: str) -> list[str]:
    """Return the texts of a claim: one, or a list. If no claim has a dotted name, its dots lead into objects."""
    claim: Any = claims.get(path)
    if claim is None:
        claim = claims
        for part in path.split("."):
            claim = claim.get(part) if isinstance(claim, Mapping) else None
    values = claim if isinstance(claim, list) else [claim]
    return [value for value in values if isinstance(value, str)]
