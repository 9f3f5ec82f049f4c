"""Who is refused again and again waits, before anything is looked up; who has a good key does not."""

from typing import Any

import pytest

from harness.fake_clock import FakeClock
from sederunt.api.access.refusal_delay import LONGEST_S, REFUSALS, RefusalDelay

AT_ONCE, PER_S = int(REFUSALS.default), REFUSALS.per_s


class Caller:
    """Requests, and how long each was kept waiting."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.pauses: list[float] = []
        self.brakes = RefusalDelay(clock.monotonic, self.pause)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 3))
        self.clock.advance(seconds)

    async def ask(self, status: int, *, key: bytes = b"", address: str = "192.0.2.1") -> bool:
        scope: dict[str, Any] = {"client": (address, 1), "headers": [(b"authorization", key)] if key else []}
        holder = self.brakes.holder(scope)
        assert holder is not None
        passed = await self.brakes.lets_pass(holder)
        if passed:
            self.brakes.answered(scope, holder, status, known=status == 200 or bool(key and status == 429))
        return passed

    async def refuse(self, times: int, **more: Any) -> None:
        for _ in range(times):
            assert await self.ask(401, **more)


@pytest.fixture
def caller(clock: FakeClock) -> Caller:
    return Caller(clock)


async def test_refusals_of_one_address_come_at_a_rate_and_others_do_not_wait(caller: Caller) -> None:
    await caller.refuse(AT_ONCE + 1)
    assert not caller.pauses
    await caller.refuse(3)
    assert caller.pauses == [1 / PER_S] * 3
    assert await caller.ask(401, address="192.0.2.2")
    assert len(caller.pauses) == 3


async def test_a_good_key_is_not_made_to_pay_for_its_address(caller: Caller) -> None:
    assert await caller.ask(200, key=b"Bearer good")
    await caller.refuse(AT_ONCE + 50)
    caller.pauses.clear()
    assert await caller.ask(200, key=b"Bearer good")
    assert not caller.pauses
    assert await caller.ask(401, key=b"Bearer good")  # it was revoked meanwhile
    assert await caller.ask(401, key=b"Bearer good")
    assert caller.pauses


async def test_a_key_beyond_its_limit_is_refused_at_a_rate(caller: Caller) -> None:
    assert await caller.ask(200, key=b"Bearer good")
    for _ in range(AT_ONCE + 4):
        assert await caller.ask(429, key=b"Bearer good")
    assert caller.pauses == [1 / PER_S] * 3
    assert await caller.ask(200, key=b"Bearer other")
    assert len(caller.pauses) == 3


async def test_who_is_far_beyond_is_told_so_and_turned_away(clock: FakeClock) -> None:
    caller = Caller(clock)
    flood = [caller.brakes.holder({"client": ("192.0.2.1", 1), "headers": []})] * (AT_ONCE + 200)
    for holder in flood:
        assert holder is not None
        caller.brakes.answered({"client": ("192.0.2.1", 1), "headers": []}, holder, 401, known=False)
    assert not await caller.ask(401)
    assert caller.pauses == [LONGEST_S]


async def test_one_network_of_the_sixth_version_is_one_caller(caller: Caller) -> None:
    await caller.refuse(AT_ONCE + 1, address="2001:db8:1:2::7")
    assert await caller.ask(401, address="2001:db8:1:2:ffff::9%eth0")
    assert len(caller.pauses) == 1
    assert await caller.ask(401, address="2001:db8:1:3::7")
    assert len(caller.pauses) == 1


async def test_what_comes_from_this_process_is_not_counted(caller: Caller) -> None:
    assert caller.brakes.holder({"client": None, "headers": []}) is None
