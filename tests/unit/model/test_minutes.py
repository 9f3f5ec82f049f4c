"""Waiting is charged beyond the free minutes, whoever ended it; meetings are charged by begun minutes."""

from datetime import UTC, datetime, timedelta

import pytest

from harness.some_bot import some_bot
from sederunt.model.bot import Bot, StopOptions
from sederunt.model.minutes import minutes_of, waiting_minutes_of
from sederunt.model.status import BotStatus, StopReason

BEGAN = datetime(2026, 11, 22, 9, tzinfo=UTC)


def bot(status: BotStatus, reason: StopReason | None, minutes: float, *, timeout: int = 30) -> Bot:
    return some_bot(
        config={"stop_options": StopOptions(waiting_room_timeout=timeout)},
        status=status,
        stop_reason=reason,
        created_at=BEGAN - timedelta(days=1),
        scheduled_for=BEGAN,
        finished_at=BEGAN + timedelta(minutes=minutes),
    )


@pytest.mark.parametrize(
    ("reason", "minutes", "charged"),
    [
        (StopReason.WAITING_ROOM_TIMEOUT, 30.2, 20),
        (StopReason.REQUEST_DENIED, 25, 15),
        (StopReason.MANUALLY_STOPPED, 12.5, 3),
        (StopReason.MANUALLY_STOPPED, 9, 0),
        (StopReason.REQUEST_DENIED, 300, 20),
        (StopReason.INVALID_MEETING_URL, 0.1, 0),
    ],
)
def test_waiting_for_nothing_is_charged_however_it_ended(reason: StopReason, minutes: float, charged: int) -> None:
    assert waiting_minutes_of(bot(BotStatus.NOT_ADMITTED, reason, minutes)) == charged


def test_who_was_let_in_did_not_wait_for_nothing() -> None:
    assert waiting_minutes_of(bot(BotStatus.FINISHED, StopReason.MEETING_ENDED, 300)) == 0
    assert minutes_of(bot(BotStatus.NOT_ADMITTED, StopReason.REQUEST_DENIED, 300)) == 0
