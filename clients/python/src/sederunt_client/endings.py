"""When a bot or recording has ended."""

import time
from datetime import datetime, timedelta, timezone

from sederunt_client.models import Bot

ENDED = frozenset({"finished", "not_admitted", "auth_required", "invalid_credentials", "failed"})
RETRY_WITHIN_S = (
    60.0  # a bot that a site took for an unwanted robot tries again within 12 s; after a lost host, within 40
)


class EndingWatch:
    """Looks at a bot again and again, until nothing more comes of it."""

    def __init__(self) -> None:
        self._detected_at: datetime | None = None
        self._seen_at = 0.0

    def is_over(self, bot: Bot) -> bool:
        """Return whether the bot has ended. One that was taken for a robot has when it did not try again for a minute,
        by its time of ending or, should the clocks differ, by how long it has been watched."""
        if bot.status != "bot_detected" or bot.finished_at is None:
            return bot.status in ENDED
        if bot.finished_at != self._detected_at:
            self._detected_at, self._seen_at = bot.finished_at, time.monotonic()
        told = datetime.now(timezone.utc) - bot.finished_at
        return told >= timedelta(seconds=RETRY_WITHIN_S) or time.monotonic() - self._seen_at >= RETRY_WITHIN_S
