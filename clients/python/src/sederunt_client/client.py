"""The two clients: one that waits for each answer, one to be awaited. What they decide is in `requests` and `live`."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import httpx2

from sederunt_client.async_routes import AsyncRoutes
from sederunt_client.endings import ENDED, EndingWatch
from sederunt_client.errors import NotReached, SederuntClientError
from sederunt_client.live import (
    AsyncListener,
    HasSockets,
    Listener,
    audio_address,
    events_address,
    hear,
    hear_async,
)
from sederunt_client.models import Bot, Recording
from sederunt_client.requests import Outcome, Request, base_of, pause_after
from sederunt_client.routes import Routes
from sederunt_client.uploads import Progress, refuse_changed
from sederunt_client.waiting import Wait

T = TypeVar("T")
E = TypeVar("E", Bot, Recording)

ATTEMPTS = 4
_BLOCK = 1 << 18


class Client(Routes):
    """The service, one request after another. Threads may share it.

    Args:
        url: where the service is, such as `http://127.0.0.1:8080`; absent: SEDERUNT_URL.
        key: an API key; absent: SEDERUNT_KEY.
        timeout_s: how long each try may take to be answered.
        attempts: tries per request, where a repeat does nothing twice.
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout_s: float = 60, attempts: int = ATTEMPTS
    ) -> None:
        self._base, headers = _place(url, key)
        self._http = httpx2.Client(headers=headers, timeout=timeout_s)
        self._attempts = attempts

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, request: Request[T]) -> T:
        """Make a request and read its answer; tries again what may pass. Raises ApiError, NotReached."""
        headers = request.headers
        for attempt in range(1, self._attempts + 1):
            outcome = self._try(request, headers)
            pause = pause_after(outcome, attempt, may_repeat=request.may_repeat, can_resend=request.can_resend)
            if pause is None or attempt == self._attempts:
                break
            time.sleep(pause)
        return request.read(outcome)

    def _try(self, request: Request[T], headers: dict[str, str]) -> Outcome:
        try:
            with request.files() as files:
                answer = self._http.request(
                    request.method,
                    self._base + request.path,
                    params=request.parameters(),
                    headers=headers,
                    content=request.json(),
                    data=request.form() if files else None,
                    files=files or None,
                )
        except httpx2.TransportError as error:
            return Outcome.of_error(error)
        except Exception as error:
            refuse_changed(error)
            raise
        return Outcome(status=answer.status_code, headers=answer.headers, body=answer.content)

    def wait_for_bot(self, bot_id: str, *, timeout_s: float | None = None) -> Bot:
        """Return the bot once it has ended and its transcript is made.

        Raises NotReached after `timeout_s`, or when the service was away for five minutes; less is waited out.
        A bot that was taken for an unwanted robot has ended when it did not try again for a minute.
        """
        wait = Wait("bot", timeout_s, time.monotonic())
        return self._wait(wait, lambda: self.get_bot(bot_id), EndingWatch().is_over)

    def wait_for_recording(self, recording_id: str, *, timeout_s: float | None = None) -> Recording:
        """Return the recording once it is transcribed, or failed; patient, and raises, as `wait_for_bot`."""
        wait = Wait("recording", timeout_s, time.monotonic())
        return self._wait(wait, lambda: self.get_recording(recording_id), lambda found: found.status in ENDED)

    def _wait(self, wait: Wait, look: Callable[[], E], is_over: Callable[[E], bool]) -> E:
        while True:
            try:
                found = look()
            except SederuntClientError as error:
                pause = wait.after_no_news(error, time.monotonic())
            else:
                if is_over(found):
                    return found
                pause = wait.after_news(found.status, time.monotonic())
            time.sleep(pause)

    def listen(self, bot: HasSockets | str, *, since: int | None = None) -> Listener:
        """Iterate over what happens in a bot's meeting, until it has ended; connects again by itself.

        Args:
            bot: a bot with sockets, or the address of one.
            since: the number of an event after which to begin; 0 is the meeting's beginning.
        """
        return Listener(events_address(bot), since)

    def audio(self, bot: HasSockets | str) -> Iterator[bytes]:
        """Iterate over a meeting's sound as it is heard: 100 ms of 16-bit mono PCM at 16 kHz each."""
        return hear(audio_address(bot))

    def download(self, url: str, target: str | os.PathLike[str], on_progress: Progress | None = None) -> Path:
        """Save what is behind an address of the service, such as `bot.recording_url`. Raises ApiError, NotReached."""
        path = Path(target)
        unfinished = path.with_name(path.name + ".part")
        try:
            with (
                httpx2.Client(timeout=60, follow_redirects=True) as http,
                http.stream("GET", url) as answer,
            ):  # no key: it is signed, also where it leads to a bucket
                total = _length(answer)
                if answer.status_code != 200:
                    answer.read()
                    _refused(answer)
                with unfinished.open("wb") as file:
                    for block in answer.iter_bytes(_BLOCK):
                        file.write(block)
                        if on_progress:
                            on_progress(file.tell(), total)
        except (httpx2.TransportError, httpx2.TooManyRedirects) as error:
            raise NotReached(f"The download broke off: {error}") from error
        return unfinished.replace(path)


class AsyncClient(AsyncRoutes):
    """The service, its answers to be awaited.

    Args:
        url: where the service is, such as `http://127.0.0.1:8080`; absent: SEDERUNT_URL.
        key: an API key; absent: SEDERUNT_KEY.
        timeout_s: how long each try may take to be answered.
        attempts: tries per request, where a repeat does nothing twice.
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout_s: float = 60, attempts: int = ATTEMPTS
    ) -> None:
        self._base, headers = _place(url, key)
        self._http = httpx2.AsyncClient(headers=headers, timeout=timeout_s)
        self._attempts = attempts

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, request: Request[T]) -> T:
        """Make a request and read its answer; tries again what may pass. Raises ApiError, NotReached."""
        headers = request.headers
        for attempt in range(1, self._attempts + 1):
            outcome = await self._try(request, headers)
            pause = pause_after(outcome, attempt, may_repeat=request.may_repeat, can_resend=request.can_resend)
            if pause is None or attempt == self._attempts:
                break
            await asyncio.sleep(pause)
        return request.read(outcome)

    async def _try(self, request: Request[T], headers: dict[str, str]) -> Outcome:
        try:
            with request.files() as files:
                answer = await self._http.request(
                    request.method,
                    self._base + request.path,
                    params=request.parameters(),
                    headers=headers,
                    content=request.json(),
                    data=request.form() if files else None,
                    files=files or None,
                )
        except httpx2.TransportError as error:
            return Outcome.of_error(error)
        except Exception as error:
            refuse_changed(error)
            raise
        return Outcome(status=answer.status_code, headers=answer.headers, body=answer.content)

    async def wait_for_bot(self, bot_id: str, *, timeout_s: float | None = None) -> Bot:
        """Return the bot once it has ended and its transcript is made.

        Raises NotReached after `timeout_s`, or when the service was away for five minutes; less is waited out.
        A bot that was taken for an unwanted robot has ended when it did not try again for a minute.
        """
        wait = Wait("bot", timeout_s, time.monotonic())
        return await self._wait(wait, lambda: self.get_bot(bot_id), EndingWatch().is_over)

    async def wait_for_recording(self, recording_id: str, *, timeout_s: float | None = None) -> Recording:
        """Return the recording once it is transcribed, or failed; patient, and raises, as `wait_for_bot`."""
        wait = Wait("recording", timeout_s, time.monotonic())
        return await self._wait(wait, lambda: self.get_recording(recording_id), lambda found: found.status in ENDED)

    async def _wait(self, wait: Wait, look: Callable[[], Awaitable[E]], is_over: Callable[[E], bool]) -> E:
        while True:
            try:
                found = await look()
            except SederuntClientError as error:
                pause = wait.after_no_news(error, time.monotonic())
            else:
                if is_over(found):
                    return found
                pause = wait.after_news(found.status, time.monotonic())
            await asyncio.sleep(pause)

    def listen(self, bot: HasSockets | str, *, since: int | None = None) -> AsyncListener:
        """Iterate over what happens in a bot's meeting, until it has ended; connects again by itself.

        Args:
            bot: a bot with sockets, or the address of one.
            since: the number of an event after which to begin; 0 is the meeting's beginning.
        """
        return AsyncListener(events_address(bot), since)

    def audio(self, bot: HasSockets | str) -> AsyncIterator[bytes]:
        """Iterate over a meeting's sound as it is heard: 100 ms of 16-bit mono PCM at 16 kHz each."""
        return hear_async(audio_address(bot))

    async def download(self, url: str, target: str | os.PathLike[str], on_progress: Progress | None = None) -> Path:
        """Save what is behind an address of the service, such as `bot.recording_url`. Raises ApiError, NotReached."""
        path = Path(target)
        unfinished = path.with_name(path.name + ".part")
        try:
            async with (
                httpx2.AsyncClient(timeout=60, follow_redirects=True) as http,
                http.stream("GET", url) as answer,
            ):  # no key: it is signed, also where it leads to a bucket
                total = _length(answer)
                if answer.status_code != 200:
                    await answer.aread()
                    _refused(answer)
                with unfinished.open("wb") as file:
                    async for block in answer.aiter_bytes(_BLOCK):
                        file.write(block)
                        if on_progress:
                            on_progress(file.tell(), total)
        except (httpx2.TransportError, httpx2.TooManyRedirects) as error:
            raise NotReached(f"The download broke off: {error}") from error
        return unfinished.replace(path)


def _place(url: str | None, key: str | None) -> tuple[str, dict[str, str]]:
    """Return where the routes are, and the headers of every request."""
    url, key = url or os.environ.get("SEDERUNT_URL"), key or os.environ.get("SEDERUNT_KEY")
    if not url or not key:
        raise SederuntClientError("Give the service's address and an API key, or set SEDERUNT_URL and SEDERUNT_KEY.")
    return base_of(url), {"Authorization": f"Bearer {key}"}


def _length(answer: httpx2.Response) -> int | None:
    told = answer.headers.get("content-length", "")
    return int(told) if told.isdecimal() else None


def _refused(answer: httpx2.Response) -> None:
    Request("GET", str(answer.url), str).read(
        Outcome(status=answer.status_code, headers=answer.headers, body=answer.content)
    )
