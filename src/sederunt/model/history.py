"""What has happened to a bot or a recording, as its `events` array tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

STATUS_UPDATE = "status_update"
CHAT_MESSAGE = "chat_message"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of history. `id` rises with time and never repeats, so it serves as a feed's sequence."""

    id: int
    event: str
    data: Mapping[str, Any]
    created_at: datetime
