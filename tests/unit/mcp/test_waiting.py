"""When the tool that waits says that a bot has ended."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from sederunt.mcp.backend import Backend
from sederunt.mcp.tools import wait_for_ending


class _Answers:
    """A service that has one bot."""

    def __init__(self, **bot: Any) -> None:
        self.bot = {"transcript": [], **bot}

    async def ask(self, *_: object) -> dict[str, Any]:
        return self.bot


@pytest.mark.parametrize(
    ("status", "ago_s", "ended"),
    [("finished", 0, True), ("leaving", 0, False), ("bot_detected", 5, False), ("bot_detected", 61, True)],
)
async def test_a_detected_bot_has_ended_when_it_did_not_try_again(status: str, ago_s: float, ended: bool) -> None:
    finished_at = (datetime.now(UTC) - timedelta(seconds=ago_s)).isoformat()
    service = cast("Backend", _Answers(status=status, finished_at=finished_at))
    assert (await wait_for_ending(service, "b-1", "bot", 0))["ended"] is ended
