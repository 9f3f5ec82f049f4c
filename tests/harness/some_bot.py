"""A bot of which only what a test is about is told."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def some_bot(*, config: dict[str, Any] | None = None, **fields: Any) -> Bot:
    """A bot on its way into a meeting, made at nine."""
    plain: dict[str, Any] = {
        "service": Service("gmeet"),
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Minutes",
        "transcription_model": "none",
    }
    made: dict[str, Any] = {"id": uuid4(), "account_id": uuid4(), "status": BotStatus.JOINING, "created_at": NINE}
    return Bot(**(made | fields), config=BotConfig(**(plain | (config or {}))))
