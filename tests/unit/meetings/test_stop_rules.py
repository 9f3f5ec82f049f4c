"""Stop rules on a clock that the test moves."""

import pytest

from sederunt.meetings.scene import Scene
from sederunt.meetings.stop_rules import Alone, Silence, TimeLimit, first_departure, rules_for
from sederunt.model.bot import StopOptions
from sederunt.model.events import ParticipantLeft, ParticipantSeen, SpeakingChanged
from sederunt.model.status import StopReason

MINUTE = 60_000


@pytest.fixture
def scene() -> Scene:
    return Scene()


def arrive(scene: Scene, name: str) -> None:
    scene.apply(ParticipantSeen(key=name, name=name, at_ms=0))


def depart(scene: Scene, name: str) -> None:
    scene.apply(ParticipantLeft(key=name, at_ms=0))


def test_the_time_limit_ends_the_stay_without_a_stop_reason_but_with_its_cause(scene: Scene) -> None:
    rule = TimeLimit(5, started_ms=0)
    assert rule.check(scene, 5 * MINUTE - 1) is None
    departure = rule.check(scene, 5 * MINUTE)
    assert departure is not None
    assert (departure.reason, departure.cause) == (None, "time_limit")


def test_an_early_bot_waits_for_its_people_however_long(scene: Scene) -> None:
    rule = Alone(2)
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 60 * MINUTE) is None


def test_alone_counts_from_when_the_last_person_left(scene: Scene) -> None:
    rule = Alone(2)
    arrive(scene, "Ada")
    assert rule.check(scene, 0) is None
    depart(scene, "Ada")
    assert rule.check(scene, 10 * MINUTE) is None
    assert rule.check(scene, 12 * MINUTE - 1) is None
    departure = rule.check(scene, 12 * MINUTE)
    assert departure is not None
    assert departure.reason is StopReason.LAST_PERSON_DETECTED


def test_someone_who_comes_back_starts_the_count_anew(scene: Scene) -> None:
    rule = Alone(2)
    arrive(scene, "Ada")
    depart(scene, "Ada")
    rule.check(scene, 0)
    arrive(scene, "Ada")
    assert rule.check(scene, 3 * MINUTE) is None
    depart(scene, "Ada")
    assert rule.check(scene, 4 * MINUTE) is None
    assert rule.check(scene, 6 * MINUTE) is not None


def test_who_spoke_and_left_before_the_list_was_read_was_company(scene: Scene) -> None:
    rule = Alone(2)
    scene.apply(SpeakingChanged(key="Ada", speaking=True, at_ms=0))
    scene.apply(ParticipantSeen(key="Minutes", name="Minutes", is_self=True, at_ms=0))
    assert rule.check(scene, 10 * MINUTE) is None  # speaks, so is here
    scene.apply(SpeakingChanged(key="Ada", speaking=False, at_ms=0))
    assert rule.check(scene, 20 * MINUTE) is None
    assert rule.check(scene, 22 * MINUTE) is not None


def test_the_bots_own_name_shown_before_the_list_was_read_was_no_company(scene: Scene) -> None:
    rule = Alone(2)
    scene.apply(SpeakingChanged(key="Minutes", speaking=True, at_ms=0))
    scene.apply(SpeakingChanged(key="Minutes", speaking=False, at_ms=0))
    scene.apply(ParticipantSeen(key="Minutes", name="Minutes", is_self=True, at_ms=0))
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 60 * MINUTE) is None


def test_where_people_are_listed_a_mark_of_nobody_known_keeps_no_bot(scene: Scene) -> None:
    rule = Alone(2)
    arrive(scene, "Ada")
    scene.apply(SpeakingChanged(key="tile-7", speaking=True, at_ms=0))  # never taken back
    depart(scene, "Ada")
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 2 * MINUTE) is not None


def test_a_page_without_any_list_cannot_tell_that_the_bot_is_alone(scene: Scene) -> None:
    rule = Alone(2)
    scene.apply(SpeakingChanged(key="Ada", speaking=True, at_ms=0))
    scene.apply(SpeakingChanged(key="Ada", speaking=False, at_ms=0))
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 60 * MINUTE) is None


def recalled(*names: str) -> Scene:
    """What the page of a bot that came back knows: earlier pages listed these."""
    earlier, scene = Scene(), Scene()
    for name in names:
        arrive(earlier, name)
    scene.recall(earlier.participants)
    return scene


def list_self(scene: Scene) -> None:
    scene.apply(ParticipantSeen(key="b", name="Minutes", is_self=True, at_ms=0))


def test_a_bot_that_came_back_to_a_room_that_people_had_left_leaves() -> None:
    scene, rule = recalled("Acme Notetaker", "Ada"), Alone(2)
    list_self(scene)
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 2 * MINUTE) is not None


def test_what_an_earlier_page_of_the_bot_left_behind_was_nobody(scene: Scene) -> None:
    rule = Alone(2)
    scene.apply(ParticipantSeen(key="old", name="Minutes", at_ms=0))  # shown for a while, like somebody else
    list_self(scene)
    depart(scene, "old")
    assert rule.check(scene, 0) is None
    assert rule.check(scene, 60 * MINUTE) is None


def test_another_bot_is_no_company(scene: Scene) -> None:
    rule = Alone(2)
    arrive(scene, "Ada")
    arrive(scene, "Acme Notetaker")
    depart(scene, "Ada")
    rule.check(scene, 0)
    assert rule.check(scene, 2 * MINUTE) is not None


def test_silence_counts_from_the_last_sound_captured(scene: Scene) -> None:
    rule = Silence(15, started_ms=0)
    scene.sound(10 * MINUTE)
    assert rule.check(scene, 25 * MINUTE - 1) is None
    departure = rule.check(scene, 25 * MINUTE)
    assert departure is not None
    assert departure.reason is StopReason.SILENCE_DETECTION_TRIGGERED


def test_zero_switches_both_detections_off(scene: Scene) -> None:
    options = StopOptions(last_person_detection=0, silence_detection=0)
    rules = rules_for(options, started_ms=0, resumed_ms=0)
    arrive(scene, "Ada")
    depart(scene, "Ada")
    assert first_departure(rules, scene, 239 * MINUTE) is None
    assert first_departure(rules, scene, 240 * MINUTE) is not None


def test_a_bot_that_came_back_counts_silence_from_its_return_and_its_limit_from_the_start(scene: Scene) -> None:
    rules = rules_for(StopOptions(), started_ms=0, resumed_ms=20 * MINUTE)
    assert first_departure(rules, scene, 34 * MINUTE) is None
    departure = first_departure(rules, scene, 35 * MINUTE)
    assert departure is not None
    assert departure.reason is StopReason.SILENCE_DETECTION_TRIGGERED
