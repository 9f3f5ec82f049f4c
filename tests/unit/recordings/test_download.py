"""Fetching a recording: redirects, sizes, and whose fault it is."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sederunt import addresses
from sederunt.errors import DestinationError
from sederunt.recordings import download as download_module
from sederunt.recordings.download import download

Answer = Callable[[httpx2.Request], httpx2.Response]
LateAnswer = Callable[[httpx2.Request], Coroutine[Any, Any, httpx2.Response]]
URL = "https://files.example/talk.mp3"


async def fetch(answer: Answer | LateAnswer, path: Path, *, most_bytes: int = 1000, allow_private: bool = False) -> int:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        return await download(client, URL, path, most_bytes=most_bytes, allow_private=allow_private)


def redirect(location: str) -> httpx2.Response:
    return httpx2.Response(302, headers={"location": location})


async def test_the_body_ends_up_in_the_file(tmp_path: Path) -> None:
    assert await fetch(lambda _: httpx2.Response(200, content=b"sound"), tmp_path / "source") == 5
    assert (tmp_path / "source").read_bytes() == b"sound"


async def test_three_redirects_are_followed_and_not_a_fourth(tmp_path: Path) -> None:
    def answer(hops: int) -> Answer:
        def give(request: httpx2.Request) -> httpx2.Response:
            hop = int(request.url.params.get("hop", 0))
            return redirect(f"?hop={hop + 1}") if hop < hops else httpx2.Response(200, content=b"sound")

        return give

    assert await fetch(answer(3), tmp_path / "source") == 5
    with pytest.raises(DestinationError) as caught:
        await fetch(answer(4), tmp_path / "source")
    assert not caught.value.retryable


@pytest.mark.parametrize("location", ["http://10.0.0.1/", "http://[::1]/", "file:///etc/passwd", "http://localhost/"])
async def test_a_redirect_into_a_private_network_is_not_followed(tmp_path: Path, location: str) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return redirect(location)

    with pytest.raises(DestinationError) as caught:
        await fetch(answer, tmp_path / "source")
    assert asked == [URL]
    assert not caught.value.retryable


@pytest.mark.parametrize(("status", "retryable"), [(404, False), (403, False), (429, True), (500, True), (503, True)])
async def test_an_error_answer_says_whether_trying_again_helps(tmp_path: Path, status: int, retryable: bool) -> None:
    with pytest.raises(DestinationError) as caught:
        await fetch(lambda _: httpx2.Response(status), tmp_path / "source")
    assert caught.value.retryable is retryable
    assert str(status) in str(caught.value)


@pytest.mark.parametrize("stated", [True, False])
async def test_a_file_that_is_too_large_is_refused(tmp_path: Path, stated: bool) -> None:
    async def blocks() -> object:  # no stated size
        for _ in range(11):
            yield b"x" * 100

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=b"x" * 1100 if stated else blocks())  # type: ignore[arg-type]

    with pytest.raises(DestinationError) as caught:
        await fetch(answer, tmp_path / "source", most_bytes=1000)
    assert not caught.value.retryable


async def test_a_body_in_crumbs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MOST_CRUMBS", 10)

    async def bytes_of(piece: bytes) -> AsyncIterator[bytes]:
        for _ in range(12):
            yield piece

    with pytest.raises(DestinationError, match="in pieces of 1 bytes") as caught:
        await fetch(lambda _: httpx2.Response(200, content=bytes_of(b"x")), tmp_path / "source")
    assert not caught.value.retryable
    assert await fetch(lambda _: httpx2.Response(200, content=bytes_of(b"x" * 64)), tmp_path / "source") == 12 * 64


async def test_an_answer_that_never_begins_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "HEAD_S", 0.01)

    async def answer(_: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(DestinationError, match="did not answer within") as caught:
        await fetch(answer, tmp_path / "source")
    assert caught.value.retryable


async def test_a_broken_connection_is_worth_another_try(tmp_path: Path) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadError("reset")

    with pytest.raises(DestinationError) as caught:
        await fetch(answer, tmp_path / "source")
    assert caught.value.retryable


async def test_an_address_that_drips_is_given_up_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(step=5)
    monkeypatch.setattr(download_module, "monotonic", lambda: float(next(seconds)))

    async def drops() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b"x"

    with pytest.raises(DestinationError, match="less than 10 kB a second") as caught:
        await fetch(lambda _: httpx2.Response(200, content=drops()), tmp_path / "source", most_bytes=10_000)
    assert caught.value.retryable
    assert (tmp_path / "source").stat().st_size < 10
