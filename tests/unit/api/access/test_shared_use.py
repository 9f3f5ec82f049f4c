"""A limit of requests and of sockets holds over all api processes together."""

import json
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger, Rate
from sederunt.api.access.shared_use import FORGOTTEN_S, SharedUse

KEY, ADA = UUID(int=7), UUID(int=1)


class ApiProcess:
    """What one process counts with, and what it heard."""

    def __init__(self, clock: FakeClock) -> None:
        self.rate, self.ledger = Rate.per_minute(60, clock.monotonic), Ledger({"sockets": 2})
        self.use = SharedUse(self.rate, self.ledger, clock.monotonic)
        self.use.tell()  # from the first exchange on, spending is noted

    def tell(self, *others: "ApiProcess") -> None:
        told = self.use.tell()
        for other in others:
            if told is not None:
                other.use.hear(told)


def test_a_key_that_asks_two_processes_has_one_minute_of_requests(clock: FakeClock) -> None:
    one, two = ApiProcess(clock), ApiProcess(clock)
    for process in (one, two):
        assert {process.rate.wait_s(KEY) for _ in range(40)} == {0}
    one.tell(one, two)
    two.tell(one, two)
    assert one.rate.wait_s(KEY) > 0
    assert two.rate.wait_s(KEY) > 0
    clock.advance(21)  # 80 were taken of 60: the twenty are paid back by both
    assert [one.rate.wait_s(KEY), one.rate.wait_s(KEY)] == [0, 1]
    assert one.use.tell() is not None
    assert one.use.tell() is None  # nothing new


def test_sockets_of_an_account_are_counted_together_and_forgotten_with_their_process(clock: FakeClock) -> None:
    one, two = ApiProcess(clock), ApiProcess(clock)
    one.ledger.take("sockets", ADA)
    two.ledger.take("sockets", ADA)
    one.tell(two)
    assert not two.ledger.has_room("sockets", ADA)
    one.ledger.give_back("sockets", ADA)
    one.tell(two)
    assert two.ledger.has_room("sockets", ADA)
    one.ledger.take("sockets", ADA)
    one.tell(two)
    assert not two.ledger.has_room("sockets", ADA)
    clock.advance(FORGOTTEN_S)
    two.use.sum_up()
    assert two.ledger.has_room("sockets", ADA)


@pytest.mark.parametrize("told", [b"x", b"{}", b"[]", b'{"from": "a", "requests": {"no id": 1}, "sockets": {}}'])
def test_what_is_none_of_ours_is_refused(clock: FakeClock, told: bytes) -> None:
    process = ApiProcess(clock)
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        process.use.hear(told)
    assert json.loads(process.use.tell() or b"null") is None
