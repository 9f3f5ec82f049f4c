"""A key has a limit of requests, and all keys and sessions of an account have one together."""

from unittest.mock import create_autospec
from uuid import UUID, uuid4

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger, Rate
from sederunt.accounts.keys import Caller, Keys
from sederunt.api.access.auth import Auth
from sederunt.errors import TooManyRequests

ADA, BEN = UUID(int=1), UUID(int=2)


def test_more_keys_and_sessions_are_not_more_requests_for_ever(clock: FakeClock) -> None:
    of_key, of_account = Rate.per_minute(2, clock.monotonic), Rate.per_minute(3, clock.monotonic)
    ledger = Ledger()
    auth = Auth(create_autospec(Keys), of_key, of_account, ledger)
    for _ in range(3):
        auth.count(Caller(ADA, uuid4()))
    for caller in (Caller(ADA, uuid4()), Caller(ADA, None, person_id=uuid4())):
        with pytest.raises(TooManyRequests, match="of this account") as refused:
            auth.count(caller)
        assert (refused.value.budget, refused.value.retry_after_s) == ("account_requests", 20)
    assert ledger.told()["account_requests"]["refused"] == 2
    auth.count(Caller(BEN, uuid4()))
