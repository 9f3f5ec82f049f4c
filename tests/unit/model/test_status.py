"""The status table: complete, closed, and the only way forward."""

import pytest

from sederunt.model.status import (
    ACTIVE,
    ENDINGS,
    REASONS,
    TRANSITIONS,
    BotStatus,
    ForbiddenTransition,
    StopReason,
    Trigger,
    advance,
    shown_reason,
)


def reachable(start: BotStatus) -> set[BotStatus]:
    found, frontier = {start}, [start]
    while frontier:
        for following in TRANSITIONS[frontier.pop()].values():
            if following not in found:
                found.add(following)
                frontier.append(following)
    return found


def test_every_status_has_a_row_and_can_be_reached_from_scheduled() -> None:
    assert set(TRANSITIONS) == set(BotStatus)
    assert reachable(BotStatus.SCHEDULED) == set(BotStatus)


def test_endings_have_no_way_out_but_for_the_retries_of_a_detected_bot() -> None:
    for status in ENDINGS - {BotStatus.BOT_DETECTED}:
        assert TRANSITIONS[status] == {}
    assert TRANSITIONS[BotStatus.BOT_DETECTED] == {Trigger.RETRIED: BotStatus.BOOTING}


def test_every_status_that_is_no_ending_leads_to_one() -> None:
    for status in set(BotStatus) - ENDINGS:
        assert reachable(status) & ENDINGS


@pytest.mark.parametrize("status", sorted(ACTIVE))
def test_every_active_status_can_crash(status: BotStatus) -> None:
    assert advance(status, Trigger.CRASHED) is BotStatus.FAILED


def test_every_bot_that_recorded_leaves_before_it_is_processed() -> None:
    assert {old for old, row in TRANSITIONS.items() if BotStatus.PROCESSING in row.values()} == {BotStatus.LEAVING}


def test_a_forbidden_move_names_both_sides() -> None:
    with pytest.raises(ForbiddenTransition, match="'admitted' leads nowhere from 'finished'"):
        advance(BotStatus.FINISHED, Trigger.ADMITTED)


def test_a_reason_is_shown_only_with_an_ending_it_may_accompany() -> None:
    assert shown_reason(BotStatus.FINISHED, StopReason.KICKED) is StopReason.KICKED
    assert shown_reason(BotStatus.NOT_ADMITTED, StopReason.KICKED) is None
    assert shown_reason(BotStatus.RECORDING, StopReason.MEETING_ENDED) is None


def test_every_reason_belongs_to_an_ending() -> None:
    assert frozenset().union(*REASONS.values()) == frozenset(StopReason)
