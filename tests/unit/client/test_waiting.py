"""Waits for an ending outlive a service that is away for a while, and many of them share the rate of one key."""

import asyncio
import json
import selectors
from collections.abc import Callable, Coroutine
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from sederunt.accounting import Rate
from sederunt_client import AsyncClient, Client, NotFound, NotReached, client
from sederunt_client.live import PATIENCE_S
from sederunt_client.models import Bot, StopOptions

Answer = Callable[[float], httpx2.Response]  # to a request at this time
BOT = {
    "id": "b",
    "service": "gmeet",
    "bot_name": "",
    "meeting_url": "",
    "stop_options": dict.fromkeys((field.name for field in fields(StopOptions)), 5),
    "transcription_model": "",
    "created_at": "2026-03-02T09:00:00.000000Z",
}


class Played(asyncio.SelectorEventLoop):
    """An event loop whose time passes only by waiting."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(SimpleSelector(self))

    def time(self) -> float:
        return self.now


class SimpleSelector(selectors.SelectSelector):
    def __init__(self, loop: Played) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        self._loop.now += timeout or 0.0
        return super().select(0)


def play(work: Callable[[Played], Coroutine[Any, Any, Any]], monkeypatch: pytest.MonkeyPatch) -> Any:
    loop = Played()
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=loop.time))
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work(loop))


def told(status: str) -> httpx2.Response:
    return httpx2.Response(200, content=json.dumps({**BOT, "status": status}).encode())


def away(status: int | None) -> httpx2.Response:
    if status is None:
        raise httpx2.ConnectError("refused")
    return httpx2.Response(status, content=b"{}")


def waited(answer: Answer, is_async: bool, monkeypatch: pytest.MonkeyPatch, timeout_s: float | None = None) -> Any:
    """Wait for a bot, from the time 0 on; return it and the time."""

    async def wait(loop: Played) -> Any:
        transport = httpx2.MockTransport(lambda _: answer(loop.time()))
        if is_async:
            awaited = AsyncClient("http://h", "k")
            awaited._http = httpx2.AsyncClient(transport=transport)
            return await awaited.wait_for_bot("b", timeout_s=timeout_s), loop.time()

        def sleep(seconds: float) -> None:
            loop.now += seconds

        monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=loop.time, sleep=sleep))
        blocking = Client("http://h", "k")
        blocking._http = httpx2.Client(transport=transport)
        return blocking.wait_for_bot("b", timeout_s=timeout_s), loop.time()

    return play(wait, monkeypatch)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("status", [None, 429, 502, 503, 504])
def test_a_wait_outlives_a_service_that_is_away_for_a_while(
    is_async: bool, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(now: float) -> httpx2.Response:
        if 10 <= now < 30:
            return away(status)
        return told("recording" if now < 10 else "finished")

    bot, now = waited(answer, is_async, monkeypatch)
    assert bot.status == "finished"
    assert now < 45


@pytest.mark.parametrize("is_async", [False, True])
def test_a_wait_gives_up_when_late_or_when_the_service_stays_away(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []

    def gone(now: float) -> httpx2.Response:
        times.append(now)
        return away(None)

    with pytest.raises(NotReached, match=r"away for 300 s: .*refused"):
        waited(gone, is_async, monkeypatch)
    assert PATIENCE_S < times[-1] < PATIENCE_S + 30
    with pytest.raises(NotReached, match=r"Nothing is known of the bot. .*refused"):
        waited(gone, is_async, monkeypatch, timeout_s=20)
    assert 20 <= times[-1] < 30
    late: list[float] = []

    def recording(now: float) -> httpx2.Response:
        late.append(now)
        return told("recording")

    with pytest.raises(NotReached, match=r"The bot is still recording."):
        waited(recording, is_async, monkeypatch, timeout_s=31)
    assert late[-1] == pytest.approx(31)


def test_a_refusal_ends_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound):
        waited(lambda _: httpx2.Response(404, content=b"{}"), True, monkeypatch)


@pytest.mark.parametrize("waiters", [60, 200])
def test_many_waits_share_the_rate_of_one_key(waiters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    async def wait(loop: Played) -> list[Bot]:
        rate = Rate.per_minute(1200, loop.time)

        def answer(_: httpx2.Request) -> httpx2.Response:
            asked.append(loop.time())
            if wait_s := rate.wait_s("key"):
                return httpx2.Response(429, headers={"Retry-After": str(wait_s)}, content=b"{}")
            return told("recording" if loop.time() < 600 else "finished")

        awaited = AsyncClient("http://h", "k")
        awaited._http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        return await asyncio.gather(*(awaited.wait_for_bot(str(number)) for number in range(waiters)))

    assert {bot.status for bot in play(wait, monkeypatch)} == {"finished"}
    if waiters == 60:
        assert len(asked) / 10 < 600, "half of the key's requests are left for others"
