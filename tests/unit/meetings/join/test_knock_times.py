"""When a bot knocks, and how long it waits before it knocks once more."""

import pytest

from harness.some_bot import NINE, some_bot
from sederunt.meetings.join.knock_times import KNOCK_AHEAD_S, SPREAD_S, host_may_be_late, knocks_in_s, pause_before_s
from sederunt.model.bot import StopOptions


def test_a_bot_that_is_alone_knocks_a_second_before_its_time_and_those_of_a_storm_one_after_another() -> None:
    assert knocks_in_s(4.0) == pytest.approx(4.0 - KNOCK_AHEAD_S, abs=0.5)
    early = [sent_ahead - knocks_in_s(sent_ahead) for sent_ahead in (10.0, 20.0, 40.0, 60.0)]
    assert early == sorted(set(early)), "who was sent earlier knocks earlier"
    assert max(early) <= KNOCK_AHEAD_S + SPREAD_S


def test_a_bot_that_is_late_knocks_at_once() -> None:
    assert knocks_in_s(-30.0) < 0


def test_pauses_begin_at_two_seconds_grow_and_are_never_the_same() -> None:
    drawn = [[pause_before_s(again) for _ in range(50)] for again in (1, 2, 3, 9)]
    for least, most, pauses in zip((2, 4, 8, 30), (3, 6, 12, 45), drawn, strict=True):
        assert least <= min(pauses) < max(pauses) <= most


def test_a_host_may_be_late_where_the_caller_gave_a_time_or_a_waiting_time() -> None:
    assert not host_may_be_late(some_bot())
    assert host_may_be_late(some_bot(scheduled_for=NINE))
    assert host_may_be_late(some_bot(config={"stop_options": StopOptions(waiting_room_timeout=5)}))
    assert host_may_be_late(some_bot(config={"waiting_time_given": True})), (
        "the default is a word, too, where it is said"
    )
