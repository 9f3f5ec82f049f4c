"""The time by which media is judged, under clocks that are set."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from harness.fake_clock import FakeClock
from sederunt.jobs.retention_time import STEADY_S, RetentionTime

EVERY_S = 30.0
WEEK = timedelta(days=7).total_seconds()


def looks(time: RetentionTime, clock: FakeClock, for_s: float) -> Iterator[float]:
    """By how many seconds what is believed differs from the clock, look by look."""
    for _ in range(round(for_s / EVERY_S)):
        clock.advance(EVERY_S)
        yield (time.at(clock.now(), clock.monotonic(), None) - clock.now()).total_seconds()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def time(clock: FakeClock) -> RetentionTime:
    """One that has looked once."""
    made = RetentionTime()
    assert made.at(clock.now(), clock.monotonic(), None) == clock.now()
    return made


def test_seconds_that_go_by_are_believed_and_a_time_service_at_work_too(time: RetentionTime, clock: FakeClock) -> None:
    assert set(looks(time, clock, 600)) == {0.0}
    clock.set_wall(20)
    assert set(looks(time, clock, 600)) == {0.0}


def test_a_clock_set_forward_is_believed_when_it_went_on_from_there_for_an_hour(
    time: RetentionTime, clock: FakeClock
) -> None:
    clock.set_wall(2 * WEEK)
    assert set(looks(time, clock, STEADY_S)) == {-2 * WEEK}
    assert set(looks(time, clock, 600)) == {0.0}


def test_a_clock_set_right_in_time_was_never_believed(time: RetentionTime, clock: FakeClock) -> None:
    clock.set_wall(2 * WEEK)
    assert set(looks(time, clock, STEADY_S / 2)) == {-2 * WEEK}
    clock.set_wall(-2 * WEEK)
    assert set(looks(time, clock, 2 * STEADY_S)) == {0.0}


def test_a_clock_that_leaps_again_has_its_hour_before_it_again(time: RetentionTime, clock: FakeClock) -> None:
    clock.set_wall(WEEK)
    assert set(looks(time, clock, STEADY_S - EVERY_S)) == {-WEEK}
    clock.set_wall(WEEK)
    assert set(looks(time, clock, STEADY_S)) == {-2 * WEEK}
    assert set(looks(time, clock, 60)) == {0.0}


def test_a_clock_set_back_is_believed_at_once(time: RetentionTime, clock: FakeClock) -> None:
    clock.set_wall(-WEEK)
    assert set(looks(time, clock, 600)) == {0.0}


def test_a_start_with_a_clock_far_from_what_was_noted_is_a_leap(clock: FakeClock) -> None:
    noted = clock.now()
    clock.set_wall(WEEK)
    started = RetentionTime()
    assert started.at(clock.now(), clock.monotonic(), noted) == noted
    # Others note meanwhile what they believe: it is not added up.
    clock.advance(EVERY_S)
    assert started.at(clock.now(), clock.monotonic(), clock.now()) == noted + timedelta(seconds=EVERY_S)
    for _ in looks(started, clock, STEADY_S):
        pass
    assert started.at(clock.now(), clock.monotonic(), noted) == clock.now()


def test_moments_over_which_the_clock_leapt_have_not_come(time: RetentionTime, clock: FakeClock) -> None:
    before, tomorrow = clock.now(), clock.now() + timedelta(days=1)
    clock.set_wall(WEEK)
    asked = clock.now()
    next(looks(time, clock, EVERY_S))
    assert [time.came(moment) for moment in (before, tomorrow, asked, clock.now())] == [True, False, True, True]
    clock.set_wall(-WEEK)
    next(looks(time, clock, EVERY_S))
    assert time.came(tomorrow)


def test_a_start_after_a_pause_is_no_leap(clock: FakeClock) -> None:
    noted = clock.now()
    clock.set_wall(3000)
    assert RetentionTime().at(clock.now(), clock.monotonic(), noted) == clock.now()
