"""Who is sent to a host now, who waits, and in which order."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.jobs.installation import Seats
from sederunt.jobs.seating import LEAD_S, NOTICE_S, PAGE_S, DueBot, InUse, Lack, SeatLimits, in_turn, plan

NOW = datetime(2026, 1, 5, 10, tzinfo=UTC)
A, B = uuid4(), uuid4()
LIMITS = SeatLimits(per_account=100, live=6)


def due(count: int, account: UUID = A, *, in_s: float = 0.0, live: bool = False) -> list[DueBot]:
    at = NOW + timedelta(seconds=in_s)
    return [DueBot(id=uuid4(), account_id=account, at=at, live=live) for _ in range(count)]


def seats(free: int, *, cores: float = 2.0) -> Seats:
    return Seats(total=40, free=free, cores=cores)


def test_three_hundred_bots_of_one_account_take_no_more_than_its_limit_and_the_rest_know_their_place() -> None:
    done = plan(due(300), NOW, seats(40), InUse(), LIMITS)
    assert len(done.send) == 40
    assert [waiting.place for waiting in done.wait] == list(range(1, 261))
    assert {waiting.of for waiting in done.wait} == {260}
    assert Counter(waiting.lack for waiting in done.wait) == {Lack.NO_SEAT: 260}


@pytest.mark.parametrize(
    ("known", "used", "limits", "lack"),
    [
        (Seats(), InUse(), LIMITS, Lack.NO_HOST),
        (seats(0), InUse(), LIMITS, Lack.NO_SEAT),
        (seats(3), InUse(unclaimed=3), LIMITS, Lack.NO_SEAT),
        (seats(9), InUse(by_account={A: 5}), SeatLimits(per_account=5, live=6), Lack.ACCOUNT_LIMIT),
        (seats(9), InUse(live=6), LIMITS, Lack.LIVE_LIMIT),
        (None, InUse(by_account={A: 5}), SeatLimits(per_account=5, live=6), Lack.ACCOUNT_LIMIT),
    ],
)
def test_a_bot_that_waits_knows_what_is_lacking(
    known: Seats | None, used: InUse, limits: SeatLimits, lack: Lack
) -> None:
    done = plan(due(1, live=True), NOW, known, used, limits)
    assert done.send == []
    assert [waiting.lack for waiting in done.wait] == [lack]


def test_seats_go_by_turns_between_accounts_and_first_to_who_has_fewer_at_work() -> None:
    many, few = due(10, A), due(2, B)
    order = in_turn([*many, *few], NOW, {A: 0, B: 0})
    assert {bot.account_id for bot in order[:2]} == {A, B}
    assert {bot.account_id for bot in order[2:4]} == {A, B}
    assert [bot.account_id for bot in in_turn([*many, *few], NOW, {A: 7})[:2]] == [B, B]


def test_what_is_late_comes_before_what_is_due_soon_and_by_turns_whatever_the_lateness() -> None:
    late, later, soon = due(2, A, in_s=-300), due(1, B, in_s=-1), due(1, B, in_s=5)
    order = in_turn([*soon, *later, *late], NOW, {})
    assert [bot.id for bot in order[:2]] == [late[0].id, later[0].id] or [bot.id for bot in order[:2]] == [
        late[1].id,
        later[0].id,
    ]
    assert order[-1] == soon[0]


def test_a_single_bot_begins_in_time_to_load_its_page_and_a_storm_at_the_pace_of_the_hosts() -> None:
    assert plan(due(1, in_s=PAGE_S + 0.5), NOW, seats(9), InUse(), LIMITS).send == []
    assert len(plan(due(1, in_s=PAGE_S), NOW, seats(9), InUse(), LIMITS).send) == 1
    assert plan(due(1, in_s=PAGE_S), NOW, None, InUse(), LIMITS).send == [], "who knows no host waits for its time"
    storm = due(20, in_s=20 + PAGE_S)  # 2 cores start a page in 1.67 s
    assert len(plan(storm, NOW, seats(40), InUse(), LIMITS).send) == 8
    assert len(plan(storm, NOW, seats(40, cores=16), InUse(), LIMITS).send) == 0
    assert plan(due(300, in_s=LEAD_S + 1), NOW, seats(300), InUse(), SeatLimits(per_account=300, live=0)).send == []


def test_nobody_is_told_to_wait_before_the_time_has_come_and_everybody_by_then() -> None:
    assert plan(due(3, in_s=5), NOW, seats(0), InUse(), LIMITS).wait == []
    assert len(plan(due(3, in_s=NOTICE_S), NOW, seats(0), InUse(), LIMITS).wait) == 3


@given(
    bots=st.lists(st.tuples(st.integers(-30, 30), st.sampled_from([A, B])), max_size=30),
    free=st.integers(0, 20),
    at_work=st.integers(0, 8),
)
def test_no_plan_breaks_a_limit_and_whoever_is_late_is_sent_or_told(
    bots: list[tuple[int, UUID]], free: int, at_work: int
) -> None:
    found = [bot for in_s, account in bots for bot in due(1, account, in_s=in_s)]
    limits = SeatLimits(per_account=8, live=0)
    done = plan(found, NOW, seats(free), InUse(by_account={A: at_work}), limits)
    whose = {bot.id: bot.account_id for bot in found}
    assert len(done.send) <= free
    assert sum(whose[id_] == A for id_ in done.send) + at_work <= max(limits.per_account, at_work)
    late = {bot.id for bot in found if bot.at <= NOW + timedelta(seconds=NOTICE_S)}
    assert late == {id_ for id_ in done.send if id_ in late} | {waiting.id for waiting in done.wait}
