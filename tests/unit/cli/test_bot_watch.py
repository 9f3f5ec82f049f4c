"""`sederunt bots watch` outlives a service that is away for a while, and tells by its code what it knows."""

import asyncio
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
import typer

from sederunt.cli import bot_commands
from sederunt.cli.bot_commands import COULD_NOT_WATCH, PATIENCE_S
from sederunt.mcp.backend import Backend

Given = list[int | dict[str, Any] | None]  # a status, an answer, or no connection


def going_on(number: int) -> dict[str, Any]:
    return {"data": [], "next": number, "ended": False}


ENDED = {"data": [], "next": 9, "ended": True}


def bot(status: str) -> dict[str, Any]:
    return {"id": "b", "status": status, "events": [], "stop_reason": None}


class Evening:
    """A watch over a service that answers as given, and as at last ever after; its time passes only by waiting."""

    def __init__(self, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self._given, self.asked = 0.0, given, 0
        monkeypatch.setattr(bot_commands, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        answer = self._given.pop(0) if len(self._given) > 1 else self._given[0]
        if answer is None:
            raise httpx2.ConnectError("refused")
        if isinstance(answer, int):
            return httpx2.Response(answer, json={"message": f"It is {answer}."})
        return httpx2.Response(200, json=answer)

    def code(self) -> int:
        async def watch() -> None:
            async with httpx2.AsyncClient(base_url="http://h", transport=httpx2.MockTransport(self._answer)) as http:
                await bot_commands._watch(Backend(http), "b", as_json=True)

        try:
            asyncio.run(watch())
        except typer.Exit as ended:
            return ended.exit_code
        return 0


@pytest.mark.parametrize(("status", "code"), [("finished", 0), ("failed", 1)])
def test_an_outage_is_waited_out(
    status: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outage: Given = [None, 502, 503, None, 504, 429]
    evening = Evening([going_on(1), *outage, going_on(2), *outage, ENDED, *outage, bot(status)], monkeypatch)
    assert evening.code() == code
    assert evening.now > 10
    assert capsys.readouterr().err.count("refused") == 3, "told once for each outage"


def test_a_busy_key_is_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    busy: Given = [429] * 100
    evening = Evening([*busy, going_on(1), *busy, ENDED, bot("finished")], monkeypatch)
    assert evening.code() == 0
    assert evening.now > PATIENCE_S


@pytest.mark.parametrize(
    ("given", "least_s", "told"),
    [
        ([None], 0, "refused"),  # nothing was there from the beginning: a wrong address
        ([404], 0, "It is 404."),
        ([going_on(1), None], PATIENCE_S, "refused"),
        ([going_on(1), 401], 0, "does not take this API key"),
        ([ENDED, 503], PATIENCE_S, "It is 503."),
    ],
)
def test_what_could_not_be_watched_has_a_code_of_its_own(
    given: Given, least_s: float, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evening = Evening(given, monkeypatch)
    assert evening.code() == COULD_NOT_WATCH
    assert least_s <= evening.now <= least_s + 15
    assert told in capsys.readouterr().err.splitlines()[-1]
