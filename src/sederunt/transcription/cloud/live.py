"""Sockets for all vendors: one session is one connection, or several if the vendor resumes.

Sound is kept until it is sent, and sent no faster than the vendor takes it. A keepalive is sent when nothing else is.
A lost connection ends the session with a cause, and the stream opens the next session.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from sederunt import foreign_json, log
from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings
from sederunt.transcription.backlog import RATE, Backlog
from sederunt.transcription.cloud.addresses import as_socket, socket_address
from sederunt.transcription.cloud.calls import joined
from sederunt.transcription.cloud.client import Client, Manners
from sederunt.transcription.cloud.faults import CLOSES, Speaker
from sederunt.transcription.cloud.vendor import (
    Acknowledged,
    Ask,
    Finished,
    Live,
    Ready,
    StreamRefused,
    Told,
    Vendor,
    asked,
)
from sederunt.transcription.rows import ModelRow
from sederunt.transcription.sessions import NO_COPY_NOTES, CopyNotes, Order, Over, Session, Tell, Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPEN_S = 10.0
CLOSE_S = 2.0  # for the closing handshake; by then the vendor has sent everything
READY_S = 30.0  # until the vendor is ready; a large vocabulary makes Speechmatics take up to 15
DRAIN_S = 8.0  # after the last sound, for each message that is still to come
# Pings detect a connection that died without notice (no power, a firewall that forgot it).
PING_EVERY_S, PONG_S = 5.0, 10.0
MOST_FRAMES = 4  # sent as one message if they wait: each message costs
HEAD_START_S = 1.0  # of sound that may be sent at once, whatever the pace
RESUME_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0)

logger = log.get(component="transcription")


class CloudRealtime:
    """The live half of a vendor."""

    def __init__(self, vendor: Vendor, live: Live) -> None:
        self._vendor, self._live = vendor, live
        self.name = vendor.row.name

    def terms(self, _model: ModelRow) -> Terms:
        return self._live.terms

    def fault(self, settings: Settings, _model: ModelRow) -> str | None:
        """Return why no socket can be opened, as far as the settings show; None if nothing is wrong."""
        provider_settings = settings.providers.get(self.name)
        try:
            socket_address(settings, self._vendor.row, provider_settings.region if provider_settings else None)
        except SetupError as fault:
            return str(fault)
        return None

    def prepare(self, _settings: Settings, _lang: str | None) -> None:
        """Do nothing: nothing takes long here."""

    def open(self, settings: Settings, order: Order, tell: Tell) -> Session:
        """Begin a session. Raises SetupError if there is no key."""
        if order.access is None:
            raise SetupError(f"There is no key for {self._vendor.row.title}.")
        ask = asked(
            order.model,
            order.access,
            lang=order.lang,
            vocabulary=order.vocabulary,
            mask_profanity=order.mask_profanity,
            mixed=order.mixed,
        )
        return CloudSession(self._vendor, self._live, settings, ask, tell, order.copies)


class CloudSession:
    """See `sessions.Session`."""

    def __init__(
        self,
        vendor: Vendor,
        live: Live,
        settings: Settings,
        ask: Ask,
        tell: Tell,
        copies: CopyNotes = NO_COPY_NOTES,
    ) -> None:
        self._vendor, self._live, self._settings, self._ask, self._tell = vendor, live, settings, ask, tell
        self._copies = copies
        self._codec = live.codec(ask)
        self._sound = _Sound(live.frame_ms, keeps_sent=live.resumes)
        self._speaker = Speaker(title=vendor.row.title, label=ask.access.label, secrets=(ask.access.key,))
        self._ready = asyncio.Event()
        self._has_progress = self._is_gone = False
        self._task = asyncio.create_task(self._run(), name=f"live {vendor.row.name}")

    # --- what the stream does -----------------------------------------------------------------------------------------

    def feed(self, samples: NDArray[np.int16]) -> None:
        self._sound.put(samples)

    def finish(self) -> None:
        self._sound.end()

    def abandon(self) -> None:
        self._tell = _nobody
        self._task.cancel()

    # --- the connection -----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        over = Over("The session ended by a fault of this program.", retry=True)
        try:
            over = await self._session()
        except ProviderError as error:
            is_limit = error.kind is ProviderFault.RATE_LIMITED
            over = Over(str(error), retry=error.retryable, is_limit=is_limit)
        except SetupError as error:
            over = Over(str(error), retry=False)
        except Exception:
            logger.exception("live session failed", action="live_session_failed", provider=self._vendor.row.name)
        finally:
            self._sound.close()
        self._tell(over)

    async def _session(self) -> Over:
        """Run until the session has ended properly; reconnect if the vendor resumes. Raises ProviderError."""
        url, losses = await self._address(), 0
        while True:
            self._has_progress = False
            try:
                async with self._connection(url) as socket:
                    return await self._talk(socket)
            except ProviderError as error:
                losses = 1 if self._has_progress else losses + 1
                if not (self._live.resumes and error.retryable) or self._is_gone or losses > len(RESUME_PAUSES_S):
                    raise
                logger.info(
                    "live connection lost", action="live_resumes", provider=self._vendor.row.name, why=str(error)
                )
            await asyncio.sleep(RESUME_PAUSES_S[losses - 1])
            self._sound.rewind()
            self._ready.clear()

    async def _address(self) -> str:
        if self._live.start is not None:
            async with Client(self._vendor, self._settings, self._ask.access, Manners(tries=1)) as client:
                return await self._live.start(client, self._ask, self._copies)
        assert self._live.path is not None
        root = socket_address(self._settings, self._vendor.row, self._ask.access.region)
        return joined(root, self._live.path(self._ask), may_overlap=not self._vendor.row.paths)

    @contextlib.asynccontextmanager
    async def _connection(self, url: str) -> AsyncIterator[ClientConnection]:
        headers = {} if self._live.start is not None else dict(self._vendor.headers(self._ask.access))
        try:
            # Sound cannot be compressed; a compressor per session costs memory and a tenth of the work of sending.
            socket = await _Connect(
                url,
                additional_headers=headers,
                open_timeout=OPEN_S,
                max_size=2**24,
                compression=None,
                ping_interval=PING_EVERY_S,
                ping_timeout=PONG_S,
                close_timeout=CLOSE_S,
            )
        except InvalidStatus as error:
            status, body = error.response.status_code, bytes(error.response.body or b"").decode("utf-8", "replace")
            explained = self._vendor.explain(status, _json(body))
            if 200 <= status < 300:  # a page instead of a socket, such as one on maintenance, is no refusal
                explained = replace(explained, kind=ProviderFault.TRANSIENT)
            raise self._speaker.refusal("open a session", status, explained) from error
        except (OSError, TimeoutError, WebSocketException) as error:
            reason = str(error) or type(error).__name__
            raise self._speaker.error(ProviderFault.TRANSIENT, "open a session", reason) from error
        try:
            yield socket
        finally:
            await socket.close()

    async def _talk(self, socket: ClientConnection) -> Over:
        """Send and receive until everything is answered. Raises ProviderError."""
        sending = asyncio.create_task(self._send(socket))
        receiving = asyncio.create_task(self._receive(socket))
        try:
            await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            await receiving
        except ConnectionClosed as error:
            raise self._closed(error) from error
        finally:
            sending.cancel()
            receiving.cancel()
            await asyncio.wait({sending, receiving})
        if not self._sound.is_spent:
            raise self._speaker.error(ProviderFault.TRANSIENT, "go on", "it ended the session")
        return Over()

    async def _send(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):  # the receiver reports why
            for message in self._codec.opening():
                await socket.send(message)
            if self._live.waits:
                await self._begun()
            started_at, sent_s = time.monotonic(), 0.0
            while True:
                frame = await self._next(socket)
                if frame is None:
                    break
                await socket.send(self._codec.audio(frame))
                sent_s += len(frame) / 2 / RATE
                ahead_s = sent_s / self._live.pace - HEAD_START_S - (time.monotonic() - started_at)
                if ahead_s > 0:
                    await asyncio.sleep(ahead_s)
                elif ahead_s < -HEAD_START_S:  # silence was not sent: do not send faster to make up for it
                    started_at, sent_s = time.monotonic(), 0.0
            for message in self._codec.closing():
                await socket.send(message)

    async def _begun(self) -> None:
        try:
            async with asyncio.timeout(READY_S):
                await self._ready.wait()
        except TimeoutError:
            raise self._speaker.error(ProviderFault.TRANSIENT, "begin", "it did not say that it is ready") from None

    async def _next(self, socket: ClientConnection) -> bytes | None:
        """Return the next frame; send keepalives while waiting for it."""
        while True:
            try:
                async with asyncio.timeout(self._live.keepalive_s):
                    return await self._sound.frame()
            except TimeoutError:
                if self._live.keepalive is not None:
                    await socket.send(self._live.keepalive)

    async def _receive(self, socket: ClientConnection) -> None:
        """Receive until the vendor has answered everything. Raises ConnectionClosed, ProviderError."""
        while True:
            limit_s = DRAIN_S if self._sound.is_spent else None
            try:
                async with asyncio.timeout(limit_s or 5.0):
                    message = await socket.recv()
            except TimeoutError:
                if limit_s is None:
                    continue
                raise self._speaker.error(ProviderFault.TRANSIENT, "finish", "no end came") from None
            if self._take(self._codec.read(message)):
                return

    def _take(self, events: Iterable[Told]) -> bool:
        """Pass on the events of a message. Return True if it was the last one."""
        for event in events:
            self._has_progress = self._has_progress or not isinstance(event, Ready | StreamRefused)
            if isinstance(event, Ready):
                self._ready.set()
            elif isinstance(event, Acknowledged):
                self._sound.acknowledge(event.count)
            elif isinstance(event, StreamRefused):
                raise self._speaker.error(event.kind, "go on", " ".join((event.code, event.message)).strip())
            elif isinstance(event, Finished):
                return True
            else:
                self._tell(event)
        return False

    def _closed(self, error: ConnectionClosed) -> ProviderError:
        frame = error.rcvd
        if frame is None:
            return self._speaker.error(ProviderFault.TRANSIENT, "go on", "the connection was lost")
        self._is_gone = frame.code in self._live.ends
        table: Mapping[int, ProviderFault] = {**CLOSES, **(self._live.closes or {})}
        explained = self._vendor.explain(frame.code, _json(frame.reason))
        kind = explained.kind or table.get(frame.code, ProviderFault.TRANSIENT)
        reason = " ".join(filter(None, (str(frame.code), explained.message or frame.reason)))
        return self._speaker.error(kind, "go on", reason)


class _Connect(connect):
    """A connection that also follows redirects to http and https URLs."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        if isinstance(exc, InvalidStatus) and (location := exc.response.headers.get("Location")):
            del exc.response.headers["Location"]
            exc.response.headers["Location"] = as_socket(urljoin(self.uri, location))
        return super().process_redirect(exc)


class _Sound:
    """The frames that a session still has to send and, with `keeps_sent`, those it may have to send again.

    Args:
        frame_ms: the length of a frame. If more sound waits, up to MOST_FRAMES are sent as one.
    """

    def __init__(self, frame_ms: int, *, keeps_sent: bool) -> None:
        self._frame = RATE * frame_ms // 1000
        self._keeps_sent = keeps_sent
        self._waiting, self._sent = Backlog(), Backlog()
        self._begun = np.zeros(0, np.int16)  # less than a frame
        self._some = asyncio.Event()
        self._ended, self._given, self._acknowledged = False, 0, 0  # samples

    @property
    def is_spent(self) -> bool:
        """Return whether the sound has ended and all frames were returned."""
        return self._ended and not self._waiting and not len(self._begun)

    def put(self, samples: NDArray[np.int16]) -> None:
        self._waiting.append(0.0, samples)
        self._some.set()

    def end(self) -> None:
        self._ended = True
        self._some.set()

    async def frame(self) -> bytes | None:
        """Return the next frame, or a few; the last one is padded with silence, and followed by None."""
        while len(self._begun) < self._frame:
            chunk = self._waiting.take()
            if chunk is not None:
                self._begun = np.concatenate([self._begun, chunk[1]])
            elif not self._ended:
                self._some.clear()
                await self._some.wait()
            elif not len(self._begun):
                return None
            else:
                self._begun = np.pad(self._begun, (0, self._frame - len(self._begun)))
        while len(self._begun) < MOST_FRAMES * self._frame and (chunk := self._waiting.take()) is not None:
            self._begun = np.concatenate([self._begun, chunk[1]])
        length = min(len(self._begun), MOST_FRAMES * self._frame)
        frame, self._begun = self._begun[:length], self._begun[length:]
        if self._keeps_sent:
            self._sent.append(self._given / RATE, frame)
        self._given += len(frame)
        return frame.astype("<i2").tobytes()

    def acknowledge(self, count: int) -> None:
        """Note that the vendor has received so many bytes of the session."""
        self._acknowledged = max(self._acknowledged, min(count // 2, self._given))
        self._sent.drop_until(self._acknowledged / RATE)

    def rewind(self) -> None:
        """Put back the frames that were not acknowledged, to be sent again."""
        unsent = Backlog()
        # A vendor may have received part of a frame.
        sent_chunks = (
            (samples, max(0, self._acknowledged - round(start * RATE))) for start, samples in self._sent.all()
        )
        waiting_samples = (samples for _, samples in self._waiting.all())
        for samples in (
            *(samples[acknowledged:] for samples, acknowledged in sent_chunks),
            self._begun,
            *waiting_samples,
        ):
            if len(samples):
                unsent.append(0.0, samples)
        self._given = self._acknowledged
        self.close()
        self._waiting, self._begun = unsent, np.zeros(0, np.int16)
        self._some.set()

    def close(self) -> None:
        """Free the space on disk."""
        self._waiting.clear()
        self._sent.clear()


def _nobody(_event: object) -> None:
    """Ignore an event of an abandoned session."""


def _json(body: str) -> Any:
    try:
        return foreign_json.read(body)
    except ValueError:
        return body
