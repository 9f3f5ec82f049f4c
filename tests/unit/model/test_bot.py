"""What a bot's own facts say together."""

from typing import Any

import pytest

from harness.some_bot import some_bot
from sederunt.model.status import MAX_CHALLENGES, BotStatus


@pytest.mark.parametrize(
    ("facts", "is_over"),
    [
        ({"status": BotStatus.SCHEDULED}, False),
        ({"status": BotStatus.LEAVING, "stop_requested": True}, False),
        ({"status": BotStatus.TRANSCRIBING}, False),
        ({"status": BotStatus.FINISHED}, True),
        ({"status": BotStatus.FAILED}, True),
        ({"status": BotStatus.BOT_DETECTED}, False),
        ({"status": BotStatus.BOT_DETECTED, "stop_requested": True}, True),
        ({"status": BotStatus.BOT_DETECTED, "attempts": MAX_CHALLENGES}, True),
    ],
)
def test_a_detected_bot_is_over_once_it_tries_no_more(facts: dict[str, Any], is_over: bool) -> None:
    assert some_bot(**facts).is_over is is_over
