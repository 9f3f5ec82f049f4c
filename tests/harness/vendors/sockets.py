"""The live half of a simulated vendor: one object per connection, which hears, tells, and fails when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from harness.vendors import recognition
from harness.vendors.faults import SOCKETS, Fault, with_field
from harness.vendors.ledger import Bill, Stream
from harness.vendors.recognition import LiveRecognition, Phrase
from harness.vendors.shapes import Refusal

if TYPE_CHECKING:
    from harness.vendors.vendor import Vendor

SETTLE_S = 120.0  # of what hangs
HANDSHAKE = ("status", "html", "slow", "refused", "drop")


class HangUp(Exception):
    """End the connection: an error message first, if there is one."""

    def __init__(self, code: int, reason: str = "", message: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.code, self.reason, self.message = code, reason, message


class Dropped(Exception):
    """The connection is gone, and nothing is left to say."""


class Socket:
    """One live connection. A vendor overrides what its protocol is; see the methods that do nothing here."""

    operation: ClassVar[str] = "socket"

    def __init__(self, vendor: Vendor, connection: ServerConnection, stream: Stream, query: dict[str, str]) -> None:
        self.vendor, self.connection, self.stream, self.query = vendor, connection, stream, query
        self.id = stream.id = str(uuid.uuid4())
        self.fault = vendor.faults.take(self.operation, SOCKETS)
        self.ears: LiveRecognition | None = None
        self.muted = False
        self._began = time.monotonic()
        self._events: asyncio.Queue[tuple[Phrase | float, bool]] = asyncio.Queue()
        self._held: dict[str, Any] | None = None
        self._swapping = False

    # What a vendor overrides.

    @classmethod
    def check(cls, vendor: Vendor, path: str, query: list[tuple[str, str]], headers: Headers) -> dict[str, str]:
        """The checked query of a handshake. Raises Refusal."""
        raise NotImplementedError

    async def begin(self) -> None:
        """Whatever comes before sound."""

    async def on_text(self, text: str) -> None:
        """A text message. Raises HangUp."""

    async def on_sound(self, data: bytes) -> None:
        """A frame of sound, already counted and checked for size and speed. Raises HangUp."""
        self.hear(data)

    async def tell(self, phrase: Phrase, *, final: bool) -> None:
        """Send a draft or a final."""

    async def tell_onset(self, at: float) -> None:
        """Somebody began to speak."""

    def idle(self) -> HangUp:
        """How it ends where nothing came for too long."""
        return HangUp(1008, "idle")

    def over_limit(self) -> HangUp:
        """How it ends at the longest session."""
        return HangUp(1008, "session limit")

    def too_fast(self) -> HangUp:
        return HangUp(1008, "too fast")

    def broken(self, code: int, message: str) -> HangUp:
        """How the fault "error" looks."""
        return HangUp(1011, message)

    # What vendors use.

    @property
    def seconds(self) -> float:
        return self.stream.seconds

    def listen(self, *, diarize: bool = False) -> None:
        """Have ears from now on."""
        self.ears = LiveRecognition(lambda what, final: self._events.put_nowait((what, final)), diarize=diarize)

    def hear(self, data: bytes) -> None:
        assert self.ears is not None
        self.ears.feed(data)

    async def send(self, message: dict[str, Any]) -> None:
        """Send a JSON message, spoiled as a fault wants it."""
        if self.muted:
            return
        fault = self.fault
        if fault is not None and fault.kind == "lag":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.kind == "field":
            message = with_field(message, fault.field, fault.value)
        self.stream.sent.append(message)
        await self.connection.send(json.dumps(message))

    async def send_transcript(self, message: dict[str, Any], *, final: bool) -> None:
        """Send a transcript: what faults swap and double."""
        if self._swapping and self._held is None:
            self._held = message
            return
        await self.send(message)
        if self._held is not None:
            held, self._held, self._swapping = self._held, None, False
            await self.send(held)
        if final and self.fault is not None and self.fault.kind == "twice":
            await self.send(message)

    async def settle(self) -> None:
        """Return when everything that was heard has been told as final."""
        if self.ears is None:
            return
        over = asyncio.Event()
        self.ears.finish(over.set)
        async with asyncio.timeout(SETTLE_S):
            await over.wait()
            await self._events.join()
        if self._held is not None:
            held, self._held = self._held, None
            await self.send(held)

    def let_go(self) -> None:
        """The connection has ended: what it took has to be paid."""
        if self.ears is not None:
            self.ears.abandon()
        self.vendor.ledger.billed.append(Bill(id=self.id, seconds=round(self.seconds, 3)))

    # How it runs.

    async def run(self) -> None:
        telling = asyncio.create_task(self._tell_all())
        try:
            await self.begin()
            await self._receive()
        except HangUp as end:
            if end.message is not None:
                await self.send(end.message)
            await self.connection.close(end.code, end.reason)
        except Dropped:
            pass
        finally:
            telling.cancel()
            self.let_go()

    async def receive(self) -> str | bytes:
        """The next message. Raises HangUp after the idle time."""
        try:
            async with asyncio.timeout(self.vendor.limits.idle_s):
                return await self.connection.recv()
        except TimeoutError:
            raise self.idle() from None

    async def _receive(self) -> None:
        while True:
            message = await self.receive()
            if isinstance(message, str) or not message:
                self.stream.received.append(_readable(message))
                self.vendor.ledger.note()
                await self.on_text(message if isinstance(message, str) else "")
                continue
            await self._sound(message)

    async def _sound(self, data: bytes) -> None:
        self._check_frame(data)
        self.stream.pcm += data
        self.stream.frames.append(len(data))
        self.vendor.ledger.note()
        limits = self.vendor.limits
        if limits.session_s is not None and self.seconds > limits.session_s:
            raise self.over_limit()
        elapsed = time.monotonic() - self._began
        if limits.speed is not None and self.seconds > limits.ahead_s + limits.speed * elapsed:
            raise self.too_fast()
        await self.on_sound(data)
        await self._trip()

    def _check_frame(self, data: bytes) -> None:
        if len(data) % 2:
            self.stream.refusal = f"a frame of {len(data)} bytes is no 16-bit sound"
            raise HangUp(1003, self.stream.refusal)
        most = self.vendor.limits.frame_bytes
        if most is not None and len(data) > most:
            self.stream.refusal = f"a frame of {len(data)} bytes, at most {most} are taken"
            raise HangUp(1009, self.stream.refusal)

    async def _trip(self) -> None:
        """Do what the fault wants once enough sound has come."""
        fault = self.fault
        if fault is None or self.seconds < fault.after_s or fault.kind in ("lag", "field", "twice", "empty"):
            return
        self.fault = None
        if fault.kind == "close":
            raise HangUp(fault.code or 1011, fault.message)
        if fault.kind == "error":
            raise self.broken(fault.code, fault.message)
        if fault.kind == "dropped":
            await self._drop()
        elif fault.kind == "broken_message":
            await self.connection.send('{"type": "Results", "channel": {"alterna')
        elif fault.kind == "out_of_order":
            self._swapping = True
        elif fault.kind == "silent":
            self.muted = True

    async def _drop(self) -> None:
        """End the connection without a word. What was sent before still arrives: what was acknowledged is sure."""
        self.muted = True
        self.connection.transport.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.connection.wait_closed()
        self.connection.transport.abort()
        raise Dropped

    async def _tell_all(self) -> None:
        while True:
            what, final = await self._events.get()
            with contextlib.suppress(ConnectionClosed):
                if isinstance(what, float):
                    await self.tell_onset(what)
                else:
                    await self.tell(self._emptied(what), final=final)
            self._events.task_done()

    def _emptied(self, phrase: Phrase) -> Phrase:
        empty = self.fault is not None and self.fault.kind == "empty"
        return Phrase(words=(), key=phrase.key) if empty else phrase


@contextlib.asynccontextmanager
async def serve_sockets(vendor: Vendor) -> AsyncIterator[int | None]:
    """Serve a vendor's sockets on a loopback port, which is told; None where it has none."""
    if vendor.socket is None:
        yield None
        return
    kind = vendor.socket
    await asyncio.to_thread(recognition.load)

    async def process_request(connection: ServerConnection, request: Request) -> Response | None:
        return await _handshake(vendor, kind, connection, request)

    async def handler(connection: ServerConnection) -> None:
        stream, query = _streams.pop(connection)
        try:
            await kind(vendor, connection, stream, query).run()
        except ConnectionClosed:
            pass
        finally:
            stream.is_open = False
            stream.close_code = connection.close_code
            vendor.ledger.note()

    async with serve(
        handler, "127.0.0.1", 0, process_request=process_request, ping_interval=None, max_size=2**22, close_timeout=2
    ) as server:
        yield next(iter(server.sockets)).getsockname()[1]


_streams: dict[ServerConnection, tuple[Stream, dict[str, str]]] = {}


async def _handshake(
    vendor: Vendor, kind: type[Socket], connection: ServerConnection, request: Request
) -> Response | None:
    address = urlsplit(request.path)
    pairs = parse_qsl(address.query, keep_blank_values=True)
    stream = Stream(
        number=len(vendor.ledger.streams) + 1, path=address.path, query=pairs, headers=dict(request.headers.raw_items())
    )
    vendor.ledger.streams.append(stream)
    fault = vendor.faults.take(kind.operation, HANDSHAKE)
    if fault is not None and (refused := await _failed(vendor, connection, fault)):
        stream.is_open, stream.refusal = False, ""
        vendor.ledger.note()
        return refused
    try:
        open_now = sum(other.is_open for other in vendor.ledger.streams)
        if vendor.limits.sessions is not None and open_now > vendor.limits.sessions:
            raise Refusal(429, "Too many concurrent sessions", code="too_many")
        query = kind.check(vendor, address.path, pairs, request.headers)
    except Refusal as refusal:
        stream.is_open, stream.refusal = False, f"{address.path}: {refusal}"
        vendor.ledger.note()
        return _answer(vendor, refusal)
    _streams[connection] = (stream, query)
    vendor.ledger.note()
    return None


async def _failed(vendor: Vendor, connection: ServerConnection, fault: Fault) -> Response | None:
    if fault.kind in ("refused", "drop"):
        connection.transport.abort()
        return Response(503, "gone", Headers(), b"")
    if fault.kind == "slow":
        await asyncio.sleep(fault.seconds)
        return None
    if fault.kind == "html":
        return Response(fault.status or 502, "Bad Gateway", Headers({"Content-Type": "text/html"}), b"<html></html>")
    headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
    return _answer(vendor, Refusal(fault.status, fault.message or "Told to fail", headers=headers))


def _answer(vendor: Vendor, refusal: Refusal) -> Response:
    body = vendor.error_body(refusal)
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/plain" if isinstance(body, str) else "application/json"
    headers = Headers({"Content-Type": kind, "Content-Length": str(len(raw)), **refusal.headers})
    return Response(refusal.status, "Refused", headers, raw)


def _readable(message: str | bytes) -> Any:
    if not message:
        return ""
    try:
        return json.loads(message)
    except ValueError:
        return str(message)
