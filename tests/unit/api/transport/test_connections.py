"""What is counted of a connection's body: crumbs, and what comes after the answer."""

import pytest

from sederunt.accounting import Ledger
from sederunt.addresses import CRUMB_BYTES, MOST_CRUMBS
from sederunt.api.transport.connections import BODY_BYTES, BODY_S, LINGER_S, ConnectionLimits, Connections
from sederunt.api.transport.unread_answers import TAKEN_BYTES, TAKEN_S


class Line:
    """A connection that remembers how it ended."""

    unread = taken = 0

    def __init__(self) -> None:
        self.was_cut = self.timed_out = False

    def is_held_up(self) -> bool:
        return False

    def cut(self) -> None:
        self.was_cut = True

    def unread_bytes(self) -> int:
        return self.unread

    def taken_bytes(self) -> int | None:
        return self.taken

    def time_out(self) -> None:
        self.timed_out = True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def known(clock: Clock) -> Connections:
    return Connections(ConnectionLimits(most=10), clock, Ledger())


def sends_a_body(known: Connections) -> Line:
    line = Line()
    known.came(line, "192.0.2.1")
    known.has_head(line)
    return line


async def test_a_body_that_goes_on_after_its_answer_is_cut_off(known: Connections, clock: Clock) -> None:
    endless, whole = sends_a_body(known), sends_a_body(known)
    for line in (endless, whole):
        known.is_answered(line)
    known.is_whole(whole)
    for _ in range(3):
        clock.now += LINGER_S / 2
        known.has_body(endless, BODY_BYTES)
        known.look()
    assert (endless.was_cut, endless.timed_out) == (True, False)
    assert not whole.was_cut
    assert len(known) == 1


async def test_who_was_answered_is_not_answered_once_more(known: Connections, clock: Clock) -> None:
    slow = sends_a_body(known)
    clock.now += BODY_S - 1
    known.is_answered(slow)
    for _ in range(int(LINGER_S) + 1):
        clock.now += 1
        known.look()
    assert (slow.was_cut, slow.timed_out) == (True, False)


async def test_a_body_in_crumbs_is_cut_off(known: Connections) -> None:
    crumbs, pieces = sends_a_body(known), sends_a_body(known)
    for _ in range(MOST_CRUMBS + 1):
        known.has_body(crumbs, CRUMB_BYTES - 1)
        known.has_body(pieces, CRUMB_BYTES)
    assert (crumbs.was_cut, pieces.was_cut) == (True, False)


def is_answered_and_waits(known: Connections, address: str, unread: int) -> Line:
    line = Line()
    line.unread = unread
    known.came(line, address)
    known.has_head(line)
    known.is_whole(line)
    known.is_unread(line)
    return line


async def test_who_takes_an_answer_slowly_keeps_its_connection(known: Connections, clock: Clock) -> None:
    slow, stalled = (is_answered_and_waits(known, "192.0.2.1", 1000) for _ in range(2))
    for _ in range(5):
        clock.now += TAKEN_S
        slow.taken += TAKEN_BYTES
        stalled.taken += 1
        known.look()
    assert (slow.was_cut, stalled.was_cut) == (False, True)


async def test_the_largest_unread_answer_of_the_address_that_has_most_goes_first(clock: Clock) -> None:
    known = Connections(ConnectionLimits(most=3, most_unread_bytes=100), clock, Ledger())
    few = is_answered_and_waits(known, "192.0.2.1", 50)
    many = [is_answered_and_waits(known, "192.0.2.2", size) for size in (40, 30)]
    known.look()
    assert [line.was_cut for line in (few, *many)] == [False, True, False]
    for _ in range(2):  # one beyond the most
        known.came(Line(), "192.0.2.3")
    assert [line.was_cut for line in (few, many[1])] == [False, False]  # half requests go before


async def test_an_unread_answer_makes_room_where_nothing_else_does(clock: Clock) -> None:
    known = Connections(ConnectionLimits(most=2), clock, Ledger())
    busy = Line()
    known.came(busy, "192.0.2.1")
    known.has_head(busy)
    unread = is_answered_and_waits(known, "192.0.2.1", 50)
    assert known.came(Line(), "192.0.2.2")
    assert (busy.was_cut, unread.was_cut) == (False, True)
