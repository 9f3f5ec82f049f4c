"""Stop rules on a clock that the test moves."""

import pytest

from sederunt.claims.claim import Source, Subject, gone, here, speak
from sederunt.meetings.session.roster import Roster
from sederunt.meetings.session.stop_rules import Alone, Silence, TimeLimit, first_departure, rules_for
from sederunt.model.bot import StopOptions
from sederunt.model.status import StopReason

MINUTE = 60_000


@pytest.fixture
def roster() -> Roster:
    return Roster()


def arrive(roster: Roster, name: str, at_ms: int = 0) -> None:
    roster.take([here(Source.PROTOCOL, [Subject(key=name, name=name)], at_ms)])


def depart(roster: Roster, name: str, at_ms: int = 1) -> None:
    roster.take([gone(name, at_ms)])


def shown_speaking(roster: Roster, *keys: str, at_ms: int = 0) -> None:
    roster.take([speak(Source.PROTOCOL, keys, at_ms)])


def test_the_time_limit_ends_the_stay_without_a_stop_reason_but_with_its_cause(roster: Roster) -> None:
    rule = TimeLimit(5, started_ms=0)
    assert rule.check(roster, 5 * MINUTE - 1) is None
    departure = rule.check(roster, 5 * MINUTE)
    assert departure is not None
    assert (departure.reason, departure.cause) == (None, "time_limit")


def test_an_early_bot_waits_for_its_people_however_long(roster: Roster) -> None:
    rule = Alone(2)
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 60 * MINUTE) is None


def test_alone_counts_from_when_the_last_person_left(roster: Roster) -> None:
    rule = Alone(2)
    arrive(roster, "Ada")
    assert rule.check(roster, 0) is None
    depart(roster, "Ada")
    assert rule.check(roster, 10 * MINUTE) is None
    assert rule.check(roster, 12 * MINUTE - 1) is None
    departure = rule.check(roster, 12 * MINUTE)
    assert departure is not None
    assert departure.reason is StopReason.LAST_PERSON_DETECTED


def test_someone_who_comes_back_starts_the_count_anew(roster: Roster) -> None:
    rule = Alone(2)
    arrive(roster, "Ada")
    depart(roster, "Ada")
    rule.check(roster, 0)
    arrive(roster, "Ada", at_ms=2)
    assert rule.check(roster, 3 * MINUTE) is None
    depart(roster, "Ada", at_ms=3)
    assert rule.check(roster, 4 * MINUTE) is None
    assert rule.check(roster, 6 * MINUTE) is not None


def test_who_spoke_and_left_before_the_list_was_read_was_company(roster: Roster) -> None:
    rule = Alone(2)
    shown_speaking(roster, "Ada")
    roster.take([here(Source.PROTOCOL, [Subject(key="Minutes", name="Minutes", is_self=True)], 0)])
    assert rule.check(roster, 10 * MINUTE) is None  # speaks, so is here
    shown_speaking(roster, at_ms=1)
    assert rule.check(roster, 20 * MINUTE) is None
    assert rule.check(roster, 22 * MINUTE) is not None


def test_the_bots_own_name_shown_before_the_list_was_read_was_no_company(roster: Roster) -> None:
    rule = Alone(2)
    shown_speaking(roster, "Minutes")
    shown_speaking(roster, at_ms=1)
    roster.take([here(Source.PROTOCOL, [Subject(key="Minutes", name="Minutes", is_self=True)], 0)])
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 60 * MINUTE) is None


def test_where_people_are_listed_a_mark_of_nobody_known_keeps_no_bot(roster: Roster) -> None:
    rule = Alone(2)
    arrive(roster, "Ada")
    shown_speaking(roster, "tile-7")  # never taken back
    depart(roster, "Ada")
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 2 * MINUTE) is not None


def test_a_page_without_any_list_cannot_tell_that_the_bot_is_alone(roster: Roster) -> None:
    rule = Alone(2)
    shown_speaking(roster, "Ada")
    shown_speaking(roster, at_ms=1)
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 60 * MINUTE) is None


def recalled(*names: str) -> Roster:
    """What the page of a bot that came back knows: earlier pages listed these."""
    earlier, roster = Roster(), Roster()
    for name in names:
        arrive(earlier, name)
    roster.recall(earlier.fold.participants)
    return roster


def list_self(roster: Roster) -> None:
    roster.take([here(Source.PROTOCOL, [Subject(key="b", name="Minutes", is_self=True)], 0)])


def test_a_bot_that_came_back_to_a_room_that_people_had_left_leaves() -> None:
    roster, rule = recalled("Acme Notetaker", "Ada"), Alone(2)
    list_self(roster)
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 2 * MINUTE) is not None


def test_what_an_earlier_page_of_the_bot_left_behind_was_nobody(roster: Roster) -> None:
    rule = Alone(2)
    roster.take([here(Source.PROTOCOL, [Subject(key="old", name="Minutes")], 0)])  # shown for a while
    list_self(roster)
    depart(roster, "old")
    assert rule.check(roster, 0) is None
    assert rule.check(roster, 60 * MINUTE) is None


def test_another_bot_is_no_company(roster: Roster) -> None:
    rule = Alone(2)
    arrive(roster, "Ada")
    arrive(roster, "Acme Notetaker")
    depart(roster, "Ada")
    rule.check(roster, 0)
    assert rule.check(roster, 2 * MINUTE) is not None


def test_silence_counts_from_the_last_sound_captured(roster: Roster) -> None:
    rule = Silence(15, started_ms=0)
    roster.heard("7", True, 10 * MINUTE)
    roster.heard("7", False, 10 * MINUTE + 1)
    assert rule.check(roster, 25 * MINUTE - 1) is None
    departure = rule.check(roster, 25 * MINUTE + 1)
    assert departure is not None
    assert departure.reason is StopReason.SILENCE_DETECTION_TRIGGERED


def test_zero_switches_both_detections_off(roster: Roster) -> None:
    options = StopOptions(last_person_detection=0, silence_detection=0)
    rules = rules_for(options, started_ms=0, resumed_ms=0)
    arrive(roster, "Ada")
    depart(roster, "Ada")
    assert first_departure(rules, roster, 239 * MINUTE) is None
    assert first_departure(rules, roster, 240 * MINUTE) is not None


def test_a_bot_that_came_back_counts_silence_from_its_return_and_its_limit_from_the_start(roster: Roster) -> None:
    rules = rules_for(StopOptions(), started_ms=0, resumed_ms=20 * MINUTE)
    assert first_departure(rules, roster, 34 * MINUTE) is None
    departure = first_departure(rules, roster, 35 * MINUTE)
    assert departure is not None
    assert departure.reason is StopReason.SILENCE_DETECTION_TRIGGERED
