"""As whom a bot comes, and what signing in with a password means for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from harness.some_bot import some_bot
from sederunt.errors import NotFound
from sederunt.meetings.join.identity import GUEST, Identity, NoIdentity, VoidIdentity, identity_of
from sederunt.meetings.outcomes import Broken, Challenged, Outcome, SignInNeeded, SignInRejected, outcome_of_sign_in
from sederunt.model.bot import Authentication, Bot, Service
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.sign_in import Credentials, SignInEnd

STATE = {"cookies": [{"name": "SID"}], "origins": []}
GMEET = Service("gmeet")
KNOWN = UUID("018f5b5e-7c1a-7000-8000-000000000001")  # in the names of tests, which must be the same in every process


@dataclass(frozen=True, kw_only=True)
class Opened:
    service: Service = GMEET
    email: str = "ada@example.org"
    password: str | None = None
    state: Mapping[str, Any] | None = None


@dataclass
class Kept:
    """Meeting accounts: one, or none."""

    one: Opened | None

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> Opened:
        if self.one is None or meeting_account_id != KNOWN:
            raise NotFound("no such account")
        return self.one

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: Mapping[str, Any]) -> None:
        raise AssertionError("nothing was signed in here")


def bot(service: Service = GMEET, **given: Any) -> Bot:
    authentication = Authentication(**given) if given else None
    return some_bot(config={"service": service, "authentication": authentication})


@pytest.mark.parametrize(
    ("opened", "has_to_sign_in", "signed_in"),
    [
        (Opened(state=STATE), False, True),
        (Opened(password="staple"), True, False),
        (Opened(password="staple", state=STATE), False, True),
    ],
)
async def test_a_state_goes_before_a_password(opened: Opened, has_to_sign_in: bool, signed_in: bool) -> None:
    identity = await identity_of(bot(meeting_account_id=str(KNOWN)), Kept(opened))
    assert (identity.has_to_sign_in, identity.signed_in) == (has_to_sign_in, signed_in)
    assert identity.meeting_account == KNOWN
    assert "staple" not in repr(identity)


@pytest.mark.parametrize("wishes", [{}, {"always_authenticate": True}])
async def test_without_an_account_there_is_no_identity(wishes: dict[str, Any]) -> None:
    with pytest.raises(NoIdentity):
        await identity_of(bot(**wishes), Kept(None))


@pytest.mark.parametrize(
    ("account", "opened", "row"),
    [
        (str(KNOWN), None, "account.gone"),
        ("no id", None, "account.gone"),
        (str(KNOWN), Opened(service=Service("teams"), password="staple"), "account.other_service"),
    ],
)
async def test_an_account_that_is_gone_or_of_another_site_is_void(
    account: str, opened: Opened | None, row: str
) -> None:
    with pytest.raises(VoidIdentity, match=row):
        await identity_of(bot(meeting_account_id=account), Kept(opened))


async def test_zoom_takes_its_token_and_no_account() -> None:
    identity = await identity_of(bot(Service("zoom"), entry_token="zak"), Kept(None))
    assert (identity.token, identity.signed_in, identity.has_to_sign_in) == ("zak", True, False)
    with pytest.raises(NoIdentity):
        await identity_of(bot(Service("zoom"), meeting_account_id=str(KNOWN)), Kept(Opened(password="staple")))


PASSWORD = Credentials(email="ada@example.org", password="staple")
BY_STATE = Identity(meeting_account=KNOWN, storage_state=STATE)
BY_BOTH = Identity(meeting_account=KNOWN, storage_state=STATE, credentials=PASSWORD)
BY_PASSWORD = Identity(meeting_account=KNOWN, credentials=PASSWORD)


def test_after_a_rejection_the_password_is_tried_once_and_the_state_it_gave_once_more() -> None:
    assert GUEST.next_after_rejection(GUEST) is None
    assert BY_STATE.next_after_rejection(BY_STATE) is None
    assert BY_BOTH.next_after_rejection(BY_BOTH) == BY_PASSWORD
    assert BY_PASSWORD.next_after_rejection(BY_PASSWORD) is None  # the password itself was refused
    assert BY_PASSWORD.next_after_rejection(BY_STATE) == BY_STATE  # it was let through, and the meeting did not know it


@pytest.mark.parametrize(
    ("state", "sent", "outcome"),
    [
        (PageState.SIGNED_IN, True, None),
        (PageState.SIGN_IN_REJECTED, True, SignInRejected(row="r")),
        (PageState.SIGN_IN_NEEDED, True, SignInNeeded(row="r")),
        (PageState.CHALLENGED, True, Challenged(row="r", again=False)),
        (PageState.TROUBLE, False, Broken(cause="page_changed", seen="r: s", again=True)),
        (PageState.TROUBLE, True, Broken(cause="page_changed", seen="r: s", again=False)),
    ],
)
def test_what_the_sign_in_pages_said_is_the_outcome(state: PageState, sent: bool, outcome: Outcome | None) -> None:
    end = SignInEnd(reading=Reading(state=state, row="r", seen="s"), password_sent=sent)
    assert outcome_of_sign_in(end) == outcome
