"""Practice meetings are worked out on the machine of everybody: an account opens few at once."""

from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock
from uuid import UUID

import pytest

from sederunt.console import practice
from sederunt.errors import TooManyRequests


async def test_an_account_opens_so_many_practice_meetings_and_others_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    client = MagicMock()
    client.__aenter__.return_value.open_meeting = AsyncMock(return_value=SimpleNamespace(url="https://a.example/x"))
    monkeypatch.setattr(practice, "PracticeClient", lambda _url: client)
    sites = practice.PracticeSites()
    monkeypatch.setattr(sites, "_start", AsyncMock())
    for _ in range(int(practice.BUDGET.default)):
        await sites.open_meeting(UUID(int=1))
    with pytest.raises(TooManyRequests) as refused:
        await sites.open_meeting(UUID(int=1))
    assert refused.value.budget == "practice_meetings"
    assert await sites.open_meeting(UUID(int=2)) == ("https://a.example/x", "")
