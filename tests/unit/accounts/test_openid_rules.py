"""What a provider's claims make of somebody."""

from typing import Any

import pytest

from sederunt.accounts.openid_rules import Membership, membership_of, name_of, verified_email
from sederunt.accounts.sign_in import MemberRole
from sederunt.settings import OidcSettings

OWNER, MEMBER, VIEWER = MemberRole
GROUPS = {"role_claim": "groups", "roles": {"admins": "owner", "staff": "member"}}
NESTED = {"role_claim": "realm_access.roles"}
TEAM = {"first_role": "member", "account_claim": "team"}

CASES: list[tuple[dict[str, Any], dict[str, Any], Membership | None]] = [
    ({}, {"groups": ["owner"]}, None),
    ({"first_role": "viewer"}, {}, Membership(None, VIEWER)),
    ({"first_role": "viewer", "account": "north"}, {}, Membership("north", VIEWER)),
    (GROUPS, {"groups": ["staff"]}, Membership(None, MEMBER)),
    (GROUPS, {"groups": "admins"}, Membership(None, OWNER)),
    (GROUPS, {"groups": ["staff", "admins"]}, Membership(None, OWNER)),
    (GROUPS, {"groups": ["owner"]}, None),
    (GROUPS, {"groups": [{"name": "admins"}, 7, None]}, None),
    (GROUPS, {}, None),
    ({**GROUPS, "first_role": "viewer"}, {"groups": []}, Membership(None, VIEWER)),
    (NESTED, {"realm_access": {"roles": ["viewer", "member"]}}, Membership(None, MEMBER)),
    (NESTED, {"realm_access": ["roles"]}, None),
    ({"role_claim": "https://a.example/role"}, {"https://a.example/role": "owner"}, Membership(None, OWNER)),
    (TEAM, {"team": "north"}, Membership("north", MEMBER)),
    (TEAM, {}, None),
    ({**TEAM, "account": "rest"}, {}, Membership("rest", MEMBER)),
    ({**TEAM, "accounts": {"n": "north"}}, {"team": ["x", "n"]}, Membership("north", MEMBER)),
    ({**TEAM, "accounts": {"n": "north"}}, {"team": "north"}, None),
]


@pytest.mark.parametrize(("settings", "claims", "membership"), CASES)
def test_a_standing_is_what_the_rules_say(
    settings: dict[str, Any], claims: dict[str, Any], membership: Membership | None
) -> None:
    assert membership_of(OidcSettings(**settings), {"sub": "1", **claims}) == membership


@pytest.mark.parametrize(
    ("claims", "comes"),
    [
        ({"email": "Ada@Example.org", "email_verified": True}, True),
        ({"email": "ada@example.org", "email_verified": "true"}, True),
        ({"email": "ada@example.org"}, False),
        ({"email": "ada@example.org", "email_verified": False}, False),
        ({"email": "ada@sub.example.org", "email_verified": True}, False),
        ({"email": "ada@example.org@evil.example", "email_verified": True}, False),
        ({"email": ["ada@example.org"], "email_verified": True}, False),
        ({}, False),
    ],
)
def test_only_a_verified_address_of_the_domain_comes_in(claims: dict[str, Any], comes: bool) -> None:
    settings = OidcSettings(first_role="viewer", email_domains=("example.ORG",))
    assert (membership_of(settings, claims) is not None) is comes


def test_an_address_that_is_not_vouched_for_is_none() -> None:
    assert verified_email({"email": " Ada@Example.org ", "email_verified": True}) == "ada@example.org"
    assert verified_email({"email": "ada@example.org"}) is None


def test_somebody_is_called_by_the_first_name_that_is_told() -> None:
    assert name_of({"sub": "1", "name": " ", "preferred_username": "ada"}) == "ada"
    assert name_of({"sub": "1"}) == "1"
    assert len(name_of({"name": "x" * 999})) == 200
