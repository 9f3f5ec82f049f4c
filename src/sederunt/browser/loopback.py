"""One WebSocket server on 127.0.0.1, over which media and signals leave all pages of this process.

Media through the driver costs 2 % of a core per bot; this way costs next to nothing. Any page of any browser on this
machine could connect here, so each bot has a random token in the path, and the page's origin is checked.
"""

import asyncio
import http
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from sederunt import log
from sederunt.browser.frame_batches import TRACKS_PER_REALM, BrokenBatch, read_batch
from sederunt.browser.page_budget import (
    MOST_BROKEN,
    MOST_CONNECTIONS,
    MOST_REALM_NAME,
    MOST_REALMS,
    Overrun,
    PageBudget,
    refuse_more,
)
from sederunt.browser.page_times import PageTimes
from sederunt.browser.signals import BrokenSignal, Signal, entries_of, read_signal
from sederunt.model.audio import CapturedFrame

MOST_BYTES = 8 << 20  # a batch of video key frames or a large response body; more is a fault
MOST_QUEUED = 4  # messages that are read ahead of a connection
MEDIA, SIGNALS = "media", "signals"

logger = log.get(component="browser")
_quiet = logging.getLogger("sederunt.browser.loopback")
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


@dataclass(kw_only=True, slots=True)
class PageChannel:
    """One bot's channel out of its page: its listeners and counters."""

    token: str
    on_frames: Callable[[Sequence[CapturedFrame]], None]
    on_signal: Callable[[Signal], None]
    may_knock: Callable[[str], bool]  # whether a page of this origin belongs to the bot
    on_overrun: Callable[[], None] = lambda: None  # the page sent more than it may and is no longer read
    budget: PageBudget = field(default_factory=PageBudget)
    times: PageTimes = field(default_factory=PageTimes)
    is_overrun: bool = False
    realms: dict[str, int] = field(default_factory=dict)  # a realm's own random name → its ordinal
    expected: dict[str, int] = field(default_factory=dict)  # per realm, number of the next batch
    batches: int = 0
    gaps: int = 0  # batches that never came
    frames: int = 0
    broken: int = 0  # messages that could not be read
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def realm(self, name: str) -> int:
        """Return the ordinal of a realm. Raises Overrun for more realms than a bot can have."""
        refuse_more("characters in the name of a realm", len(name), MOST_REALM_NAME)
        ordinal = self.realms.setdefault(name, len(self.realms))
        refuse_more("pages and frames", len(self.realms), MOST_REALMS)
        return ordinal

    def track(self, realm: str, number: int) -> int:
        """Return the bot's number for a track of a realm. Raises Overrun as `realm` does."""
        return self.realm(realm) * TRACKS_PER_REALM + number

    def take_media(self, realm: str, message: bytes) -> None:
        """Pass the frames of one batch on. Raises BrokenBatch and Overrun."""
        self.budget.spend("media bytes", len(message))
        batch = read_batch(message, realm=self.realm(realm), now_ms=self.times.now_ms(), in_ours=self.times.of(realm))
        self.budget.spend("frames", len(batch.frames))
        self.gaps += max(0, batch.sequence - self.expected.get(realm, 0))
        self.expected[realm] = batch.sequence + 1
        self.batches += 1
        self.frames += len(batch.frames)
        self._came.set()
        self.on_frames(batch.frames)

    async def until_came(self, realm: str, batches: int) -> None:
        """Wait until that many batches of a realm have arrived, or are known to be missing."""
        while self.expected.get(realm, 0) < batches:
            self._came.clear()
            await self._came.wait()

    def take_signal(self, realm: str, message: str | bytes) -> None:
        """Pass one signal on. Raises BrokenSignal and Overrun."""
        self.budget.spend("signals", 1)
        self.budget.spend("signal bytes", len(message))
        signal = read_signal(message, self.times.now_ms(), self.times.of(realm))
        self.budget.spend("people", entries_of(signal))
        if "track" in signal.data:
            data = {**signal.data, "track": self.track(realm, signal.data["track"])}
            signal = Signal(kind=signal.kind, data=data, at_ms=signal.at_ms)
        self.on_signal(signal)


class Loopback:
    """Async context manager: the server, and the lines of the bots on it."""

    def __init__(self) -> None:
        self._lines: dict[str, PageChannel] = {}
        self._server: Server | None = None
        self._connections: dict[str, set[ServerConnection]] = {}

    async def __aenter__(self) -> "Loopback":
        # No compression (Opus does not shrink), no pings (the other end is ours and on this machine).
        self._server = await serve(
            self._hear,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            max_size=MOST_BYTES,
            max_queue=MOST_QUEUED,
            ping_interval=None,
            close_timeout=1,
            logger=_quiet,
            server_header=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(next(iter(self._server.sockets)).getsockname()[1])

    def open_line(
        self,
        *,
        on_frames: Callable[[Sequence[CapturedFrame]], None],
        on_signal: Callable[[Signal], None],
        may_knock: Callable[[str], bool],
        on_overrun: Callable[[], None] = lambda: None,
        times: PageTimes | None = None,
    ) -> PageChannel:
        """Open a line for one bot. Its callbacks are called in the event loop and must not block."""
        line = PageChannel(
            token=secrets.token_urlsafe(24),
            on_frames=on_frames,
            on_signal=on_signal,
            may_knock=may_knock,
            on_overrun=on_overrun,
            times=times or PageTimes(),
        )
        self._lines[line.token] = line
        return line

    def address(self, line: PageChannel) -> str:
        """Return the address to which the page's scripts connect; they add "/media" or "/signals"."""
        return f"ws://127.0.0.1:{self.port}/{line.token}"

    async def close_line(self, line: PageChannel) -> None:
        """Stop listening to this bot."""
        self._lines.pop(line.token, None)
        for connection in list(self._connections.pop(line.token, ())):
            connection.transport.abort()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        token, _, channel = urlsplit(request.path).path.strip("/").partition("/")
        line = self._lines.get(token)
        if line is None or line.is_overrun or channel not in (MEDIA, SIGNALS):
            return connection.respond(http.HTTPStatus.NOT_FOUND, "")
        if len(self._connections.get(token, ())) >= MOST_CONNECTIONS:
            return connection.respond(http.HTTPStatus.TOO_MANY_REQUESTS, "")
        if not line.may_knock(request.headers.get("Origin", "")):
            logger.warning("a foreign page knocked", action="knock_refused")
            return connection.respond(http.HTTPStatus.FORBIDDEN, "")
        return None

    async def _hear(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        address = urlsplit(connection.request.path)
        token, _, channel = address.path.strip("/").partition("/")
        line = self._lines.get(token)
        if line is None:
            return
        realm = parse_qs(address.query).get("realm", [""])[0]
        self._connections.setdefault(token, set()).add(connection)
        try:
            async for message in connection:
                _take(line, channel, realm, message)
        except ConnectionClosed:
            pass  # pages end at any time
        except Overrun as overrun:
            self.drop(line, str(overrun))
        finally:
            self._connections.get(token, set()).discard(connection)

    def drop(self, line: PageChannel, why: str) -> None:
        """Stop listening to a page that does more than it may."""
        if line.is_overrun:
            return
        line.is_overrun = True
        logger.error("a page does too much and is dropped", action="page_overran", why=why)
        for connection in list(self._connections.get(line.token, ())):
            connection.transport.abort()
        line.on_overrun()


def _take(line: PageChannel, channel: str, realm: str, message: str | bytes) -> None:
    # Passes one message on. A fault in it, or in the listener, must not cost the bot its line. Raises Overrun.
    if line.is_overrun:
        return
    try:
        if channel == MEDIA and isinstance(message, bytes):
            line.take_media(realm, message)
        else:
            line.take_signal(realm, message)
    except (BrokenBatch, BrokenSignal) as error:
        line.broken += 1
        logger.warning(str(error), action="page_message_broken")
        refuse_more("messages that cannot be read", line.broken, MOST_BROKEN)
    except Overrun:
        raise
    except Exception:
        line.broken += 1
        logger.exception("a listener failed", action="page_listener_failed", channel=channel)
        refuse_more("messages that cannot be read", line.broken, MOST_BROKEN)
