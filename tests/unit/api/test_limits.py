"""A key has a minute's worth of requests, which comes back evenly."""

from harness.fake_clock import FakeClock
from sederunt.api.limits import RateLimit


def test_a_key_that_spent_its_minute_waits_for_the_next_token(clock: FakeClock) -> None:
    limit = RateLimit(2, clock.monotonic)
    assert [limit.wait_s("a") for _ in range(3)] == [0, 0, 30]
    assert limit.wait_s("b") == 0
    clock.advance(30)
    assert [limit.wait_s("a") for _ in range(2)] == [0, 30]
    clock.advance(3600)
    assert [limit.wait_s("a") for _ in range(3)] == [0, 0, 30]


def test_no_limit_is_no_limit(clock: FakeClock) -> None:
    limit = RateLimit(0, clock.monotonic)
    assert {limit.wait_s("a") for _ in range(1000)} == {0}
