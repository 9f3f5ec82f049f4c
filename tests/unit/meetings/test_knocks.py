"""When a scheduled bot knocks."""

import pytest

from sederunt.meetings.join.tries import KNOCK_AHEAD_S, SPREAD_S, knocks_in_s


def test_a_bot_that_is_alone_knocks_a_second_before_its_time_and_those_of_a_storm_one_after_another() -> None:
    assert knocks_in_s(4.0) == pytest.approx(4.0 - KNOCK_AHEAD_S, abs=0.5)
    early = [sent_ahead - knocks_in_s(sent_ahead) for sent_ahead in (10.0, 20.0, 40.0, 60.0)]
    assert early == sorted(set(early)), "who was sent earlier knocks earlier"
    assert max(early) <= KNOCK_AHEAD_S + SPREAD_S


def test_a_bot_that_is_late_knocks_at_once() -> None:
    assert knocks_in_s(-30.0) < 0
