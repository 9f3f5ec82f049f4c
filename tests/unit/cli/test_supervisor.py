"""When a child that ended is started again."""

from itertools import accumulate, repeat

from sederunt.cli.supervisor import FIRST_PAUSE_S, HEALTHY_AFTER_S, LONGEST_PAUSE_S, next_pause_s


def test_pauses_grow_while_a_child_ends_at_once_again_and_again() -> None:
    pauses = list(accumulate(repeat(1.0, 9), next_pause_s, initial=0.0))[1:]
    assert pauses == [0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_after_a_healthy_life_the_successor_comes_at_once() -> None:
    assert next_pause_s(LONGEST_PAUSE_S, HEALTHY_AFTER_S + 1) == FIRST_PAUSE_S
    assert next_pause_s(0.0, 0.0) == FIRST_PAUSE_S
