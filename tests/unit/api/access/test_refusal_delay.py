"""Who is refused again and again waits, before anything is looked up; who has a good key does not."""

from typing import Any

import pytest

from harness.fake_clock import FakeClock
from sederunt.api.access import refusal_delay
from sederunt.api.access.refusal_delay import LONGEST_S, REFUSALS, RefusalDelay, Shown
from sederunt.api.access.sessions import COOKIE

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

    async def ask(
        self, status: int, *, key: bytes = b"", cookie: bytes = b"", address: str = "192.0.2.1", good: Shown = "key"
    ) -> bool:
        shown = [(b"authorization", key), (b"cookie", cookie)]
        headers = [(name, value) for name, value in shown if value]
        scope: dict[str, Any] = {"type": "http", "client": (address, 1), "headers": headers}
        holder = self.brakes.holder(scope)
        assert holder is not None
        passed = await self.brakes.lets_pass(holder)
        if passed:
            is_good = status == 200 or bool(headers and status == 429)
            self.brakes.answered(scope, holder, status, good=good if is_good else None)
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


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_what_nobody_could_mean_is_a_refusal_of_who_shows_no_good_key(caller: Caller, status: int) -> None:
    for _ in range(AT_ONCE + 2):
        assert await caller.ask(status)
    assert caller.pauses == [1 / PER_S]
    scope: dict[str, Any] = {
        "type": "http",
        "client": ("192.0.2.2", 1),
        "headers": [(b"authorization", b"Bearer good")],
    }
    for _ in range(AT_ONCE + 2):
        holder = caller.brakes.holder(scope)
        assert holder is not None
        assert await caller.brakes.lets_pass(holder)
        caller.brakes.answered(scope, holder, status, good="key")
    assert len(caller.pauses) == 1


async def test_a_key_beyond_its_limit_is_refused_at_a_rate(caller: Caller) -> None:
    assert await caller.ask(200, key=b"Bearer good")
    for _ in range(AT_ONCE + 4):
        assert await caller.ask(429, key=b"Bearer good")
    assert caller.pauses == [1 / PER_S] * 3
    assert await caller.ask(200, key=b"Bearer other")
    assert len(caller.pauses) == 3


SPELLINGS = {
    "a key beside other cookies": [{"key": b"Bearer good", "cookie": b"a=%d" % n} for n in range(100)],
    "a key beside other sessions": [
        {"key": b"Bearer good", "cookie": b"%s=%d" % (COOKIE.encode(), n)} for n in range(100)
    ],
    "a key spelt in other ways": [
        {"key": b"%s%sgood " % (word, b" " * n)} for word in (b"Bearer", b"bEARER") for n in range(1, 51)
    ],
    "a session beside other cookies": [
        {"cookie": b"a=%d; %s=good" % (n, COOKIE.encode()), "good": "session"} for n in range(100)
    ],
    "a session beside keys that nobody looks at": [
        {"cookie": b"%s=good" % COOKIE.encode(), "key": b"Bearer %d" % n, "good": "session"} for n in range(100)
    ],
}


@pytest.mark.parametrize("spellings", SPELLINGS.values(), ids=SPELLINGS)
async def test_one_caller_is_one_however_its_requests_are_spelt(
    caller: Caller, spellings: list[dict[str, Any]]
) -> None:
    for spelling in spellings:
        assert await caller.ask(200, **spelling)
    for n in range(2_000):
        assert await caller.ask(429, **spellings[n % len(spellings)])
    assert len(caller.pauses) >= 2_000 - AT_ONCE - 1


async def test_sessions_are_told_apart(caller: Caller) -> None:
    one, other = (b"%s=%s" % (COOKIE.encode(), name) for name in (b"one", b"other"))
    for cookie in (one, other):
        assert await caller.ask(200, cookie=cookie, good="session")
    for _ in range(AT_ONCE + 2):
        assert await caller.ask(404, cookie=one, good="session")
    assert len(caller.pauses) == 1
    assert await caller.ask(200, cookie=other, good="session")
    assert len(caller.pauses) == 1


async def test_who_was_not_heard_of_for_longest_makes_room(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusal_delay, "MOST_KNOWN", 3)
    for key in (b"Bearer a", b"Bearer b", b"Bearer c", b"Bearer a", b"Bearer d"):
        assert await caller.ask(200, key=key)
    await caller.refuse(AT_ONCE + 1)
    for key in (b"Bearer a", b"Bearer c", b"Bearer d"):
        assert await caller.ask(404, key=key)
    assert not caller.pauses
    assert await caller.ask(404, key=b"Bearer b")
    assert caller.pauses


async def test_who_is_far_beyond_is_told_so_and_turned_away(clock: FakeClock) -> None:
    caller = Caller(clock)
    scope: dict[str, Any] = {"type": "http", "client": ("192.0.2.1", 1), "headers": []}
    for holder in [caller.brakes.holder(scope)] * (AT_ONCE + 200):
        assert holder is not None
        caller.brakes.answered(scope, holder, 401, good=None)
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
