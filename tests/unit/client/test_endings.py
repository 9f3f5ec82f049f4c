"""When a wait for a bot is over."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from sederunt_client import AsyncClient, Client, endings, waiting
from sederunt_client.endings import RETRY_WITHIN_S, EndingWatch

LONG_AGO = datetime(2026, 3, 2, 9, tzinfo=UTC)


def bot(status: str, finished_at: datetime | None = None) -> Any:
    return SimpleNamespace(status=status, finished_at=finished_at)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_wait_ends_with_a_detected_bot_that_tries_no_more(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    just = datetime.now(UTC)
    told: Iterator[Any] = iter(
        [bot("joining"), bot("bot_detected", just), bot("booting"), bot("joining"), bot("bot_detected", LONG_AGO)]
    )
    monkeypatch.setattr(waiting, "SOONEST_LOOK_S", 0.0)
    if is_async:

        async def look(_id: str) -> Any:
            return next(told)

        awaited = AsyncClient("http://127.0.0.1:9", "k")
        monkeypatch.setattr(awaited, "get_bot", look)
        ended: Any = asyncio.run(awaited.wait_for_bot("b", timeout_s=60))
    else:
        blocking = Client("http://127.0.0.1:9", "k")
        monkeypatch.setattr(blocking, "get_bot", lambda _id: next(told))
        ended = blocking.wait_for_bot("b", timeout_s=60)
    assert (ended.status, ended.finished_at, list(told)) == ("bot_detected", LONG_AGO, [])


def test_where_the_service_has_another_clock_a_minute_of_watching_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(endings, "time", SimpleNamespace(monotonic=lambda: now))
    ahead = datetime.now(UTC) + timedelta(hours=1)
    watch = EndingWatch()
    assert not watch.is_over(bot("bot_detected", ahead))
    now += RETRY_WITHIN_S - 1
    assert not watch.is_over(bot("bot_detected", ahead))
    again = ahead + timedelta(seconds=20)  # it tried once more meanwhile
    now += 2
    assert not watch.is_over(bot("bot_detected", again))
    now += RETRY_WITHIN_S
    assert watch.is_over(bot("bot_detected", again))
