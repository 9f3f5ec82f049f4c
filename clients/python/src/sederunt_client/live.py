"""A bot's live events and sound: where a listener is, when it connects again, and when it is over.

The decisions are in `Position`, which reads and writes nothing; `Listener` and `AsyncListener` are its two shells.
"""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection as AsyncConnection
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from sederunt_client.errors import ApiError, BotDeleted, NotReached, SederuntClientError
from sederunt_client.requests import growing_pause

PATIENCE_S = 300.0
QUIET_S = 150.0  # after so long without a word a line is dead: the service sends a ping once a minute
_OVER, _DELETED = 1000, 4404
_PASSING = frozenset({429, 500, 502, 503, 504})


class HasSockets(Protocol):
    """A bot, or a summary of one."""

    @property
    def websocket_url(self) -> str | None: ...

    @property
    def websocket_read_only_url(self) -> str | None: ...

    @property
    def websocket_audio_url(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class LiveEvent:
    """Something that happened in a meeting, or is known of it so far (`connected`)."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    seq: int | None = None  # None: for this moment only, such as a draft


class Position:
    """Where a listener is in a bot's events, across its connections."""

    def __init__(self, address: str, since: int | None) -> None:
        self.since = since
        self._address = address
        self._failures = 0
        self._away_since: float | None = None
        self._is_resuming = False

    @property
    def address(self) -> str:
        """Return where to connect, so that nothing is missing and nothing comes twice."""
        return self._address if self.since is None else f"{self._address}?since={self.since}"

    def take(self, frame: str | bytes) -> LiveEvent | None:
        """Return what a frame tells; None where that is nothing new."""
        message = json.loads(frame)
        event = LiveEvent(type=message["type"], data=message.get("data") or {}, seq=message.get("seq"))
        self.heard()
        is_known = self._is_resuming and event.type == "connected" and event.seq == self.since
        if event.seq is not None:
            self.since = event.seq
        return None if is_known or event.type == "ping" else event

    def heard(self) -> None:
        """Note that the connection works."""
        self._failures, self._away_since = 0, None

    def pause_after(self, error: Exception, now: float) -> float | None:
        """Return the seconds until the next connection after one broke; None where it is over.

        Raises BotDeleted, ApiError where the service refuses, NotReached when it was away for too long.
        """
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            if error.rcvd.code == _OVER:
                return None
            if error.rcvd.code == _DELETED:
                raise BotDeleted("The bot was deleted.") from None
        if isinstance(error, InvalidStatus) and error.response.status_code not in _PASSING:
            response = error.response
            raise ApiError.of(response.status_code, response.headers, bytes(response.body or b"")) from None
        self._is_resuming = True
        self._failures += 1
        if self._away_since is None:
            self._away_since = now
        if now - self._away_since > PATIENCE_S:
            raise NotReached(f"The service was away for {PATIENCE_S:g} s: {error}") from error
        return growing_pause(self._failures)


_BROKEN = (
    ConnectionClosed,
    InvalidHandshake,
    OSError,
    TimeoutError,
    asyncio.TimeoutError,  # another one before Python 3.11
    EOFError,
)


class Listener:
    """Iterates over a bot's events until it has ended, connecting again by itself; a context manager."""

    def __init__(self, address: str, since: int | None = None) -> None:
        self._position = Position(address, since)
        self._connection: ClientConnection | None = None
        self._closed = threading.Event()

    def __enter__(self) -> "Listener":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def seq(self) -> int | None:
        """Return the number of the last event: `since` of a listener that is to go on from here."""
        return self._position.since

    def __iter__(self) -> Iterator[LiveEvent]:
        while not self._closed.is_set():
            pause: float | None = None
            try:
                with connect(self._position.address, max_size=None) as self._connection:
                    while not self._closed.is_set():
                        event = self._position.take(self._connection.recv(QUIET_S))
                        if event is not None:
                            yield event
            except _BROKEN as error:
                if self._closed.is_set():
                    return
                pause = self._position.pause_after(error, time.monotonic())
            finally:
                self._connection = None
            if pause is None:
                return
            self._closed.wait(pause)

    def act(self, action: str, **data: Any) -> None:
        """Send an action over the open connection, such as `change-avatar`; what cannot be done is an `error` event."""
        if self._connection is None:
            raise NotReached("There is no connection at this moment.")
        self._connection.send(json.dumps({"action": action, "data": data}))

    def close(self) -> None:
        """Hang up, for good."""
        self._closed.set()
        if (connection := self._connection) is not None:
            connection.close()


class AsyncListener:
    """Iterates over a bot's events until it has ended, connecting again by itself; a context manager."""

    def __init__(self, address: str, since: int | None = None) -> None:
        self._position = Position(address, since)
        self._connection: AsyncConnection | None = None
        self._closed = asyncio.Event()

    async def __aenter__(self) -> "AsyncListener":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def seq(self) -> int | None:
        """Return the number of the last event: `since` of a listener that is to go on from here."""
        return self._position.since

    async def __aiter__(self) -> AsyncIterator[LiveEvent]:
        while not self._closed.is_set():
            pause: float | None = None
            try:
                async with connect_async(self._position.address, max_size=None) as self._connection:
                    while not self._closed.is_set():
                        event = self._position.take(await asyncio.wait_for(self._connection.recv(), QUIET_S))
                        if event is not None:
                            yield event
            except _BROKEN as error:
                if self._closed.is_set():
                    return
                pause = self._position.pause_after(error, time.monotonic())
            finally:
                self._connection = None
            if pause is None:
                return
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closed.wait(), pause)

    async def act(self, action: str, **data: Any) -> None:
        """Send an action over the open connection, such as `change-avatar`; what cannot be done is an `error` event."""
        if self._connection is None:
            raise NotReached("There is no connection at this moment.")
        await self._connection.send(json.dumps({"action": action, "data": data}))

    async def close(self) -> None:
        """Hang up, for good."""
        self._closed.set()
        if (connection := self._connection) is not None:
            await connection.close()


def hear(address: str) -> Iterator[bytes]:
    """Yield a meeting's sound, 100 ms of 16-bit mono PCM at 16 kHz each; what is missed while away is missing."""
    position = Position(address, None)
    while True:
        try:
            with connect(address, max_size=None) as connection:
                while True:
                    block = connection.recv()
                    position.heard()
                    if isinstance(block, bytes):
                        yield block
        except _BROKEN as error:
            pause = position.pause_after(error, time.monotonic())
        if pause is None:
            return
        time.sleep(pause)


async def hear_async(address: str) -> AsyncIterator[bytes]:
    """Yield a meeting's sound, as `hear` does."""
    position = Position(address, None)
    while True:
        try:
            async with connect_async(address, max_size=None) as connection:
                while True:
                    block = await connection.recv()
                    position.heard()
                    if isinstance(block, bytes):
                        yield block
        except _BROKEN as error:
            pause = position.pause_after(error, time.monotonic())
        if pause is None:
            return
        await asyncio.sleep(pause)


def events_address(bot: HasSockets | str) -> str:
    """Return the address of a bot's events. Raises SederuntClientError where it has none."""
    given = bot if isinstance(bot, str) else bot.websocket_url or bot.websocket_read_only_url
    return _address(given, "websocket_url")


def audio_address(bot: HasSockets | str) -> str:
    """Return the address of a bot's sound. Raises SederuntClientError where it has none."""
    return _address(bot if isinstance(bot, str) else bot.websocket_audio_url, "websocket_audio_url")


def _address(given: str | None, field_name: str) -> str:
    if given is None:
        raise SederuntClientError(
            "This bot has no sockets: give it a realtime model, or `realtime_audio=True`, when you create it."
        )
    if not given.startswith(("ws://", "wss://")):
        raise SederuntClientError(
            f"'{given[:40]}' is not the address of a socket: give the bot, or its `{field_name}`."
        )
    return given
