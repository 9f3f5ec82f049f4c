"""Requests that are good, for tests to spoil."""

from typing import Any

import pytest

Body = dict[str, Any]


@pytest.fixture
def good_bot() -> Body:
    """The least that makes a bot."""
    return {
        "transcription_model": "whisper",
        "service": "gmeet",
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Minutes",
    }
