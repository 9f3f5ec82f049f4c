"""When a worker may rest."""

from sederunt.cli.rest import IdleTime

ENOUGH_S = 60.0


def test_it_is_time_after_as_many_idle_seconds_in_a_row() -> None:
    now = 1000.0
    idle = IdleTime(ENOUGH_S, lambda: now)
    assert not idle.is_enough(busy=False)
    now += 59
    assert not idle.is_enough(busy=False)
    now += 1
    assert idle.is_enough(busy=False)


def test_a_job_begins_the_time_anew() -> None:
    now = 1000.0
    idle = IdleTime(ENOUGH_S, lambda: now)
    now += 59
    assert not idle.is_enough(busy=True)
    now += 59
    assert not idle.is_enough(busy=False)
    now += 1
    assert idle.is_enough(busy=False)
    assert not idle.is_enough(busy=True)
