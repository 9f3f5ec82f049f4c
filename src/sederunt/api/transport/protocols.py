"""uvicorn's protocols, changed: invalid HTTP is answered in JSON too, and callers that do not read or send are cut off.

uvicorn waits for ever for room in the send buffer, even before it closes, and keeps a connection until everything has
been read. ASGI offers no way to cut one off.
"""

import asyncio
import json
import resource
import socket
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from sederunt.accounting import Ledger, Rate
from sederunt.api.access.refusal_delay import network_of
from sederunt.api.transport.connections import RESERVED_FILES, ConnectionLimits, Connections
from sederunt.model.budgets import BUDGETS

LINE_BYTES = 256 * 1024  # the system's send buffer for one listener: some seconds of sound, an hour of events
GOODBYE_S = 5.0  # a closing listener has so long to read its buffer before its connection is cut
HEAD_BYTES = 64 * 1024  # uvicorn with this parser has no limit: anybody could fill the memory
KEEP_ALIVE_S = 75  # longer than clients and proxies keep a connection, or they send a request on one that just ended
REQUEST_SLICE_BYTES = 16 * 1024  # of a request, parsed at once: after a cut, the remaining slices are dropped
AT_ONCE = struct.pack("ii", 1, 0)  # for SO_LINGER: unsent data is dropped
ACKED_AT = 120  # offset, in Linux' tcp_info, of the number of bytes that the other side has acknowledged
MOST_WAITING = 32  # requests of one connection behind the one that is answered: uvicorn reads on with each answer
SLICE_BYTES = 1024  # of received data, parsed at once: a piece of a message may have six bytes
FIRST_REQUEST_S = 2.0  # during shutdown, a new connection has so long to bring its first request
PIECES = BUDGETS["pieces"]
HEARD_BYTES = 32 * 1024  # requested receive buffer for a listener: at most twice that is read at once
FRAME_BYTES = 128 * 1024  # of an action; the longest chat message, fully escaped, has half


class SocketProtocol(WebSocketsSansIOProtocol):
    """One connection that became a WebSocket.

    Pings and pieces of messages never reach the application, whose pace would limit them: each ping is answered at
    once, whether the other side reads or not. All received data is therefore counted here, and parsed in slices.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pace = Rate(PIECES.default, PIECES.per_s, time.monotonic)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BYTES)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, HEARD_BYTES)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE_BYTES):
            if not self.transport.is_closing():
                super().data_received(data[start : start + SLICE_BYTES])

    def handle_cont(self, event: Frame) -> None:
        self._count()
        super().handle_cont(event)

    def handle_ping(self) -> None:
        self._count()
        super().handle_ping()

    def send_receive_event_to_app(self) -> None:
        self._count()
        super().send_receive_event_to_app()

    def _count(self) -> None:
        """Cut the connection if it sends more pieces than any client needs."""
        if not self._pace.charge(self, 1):
            self.transport.abort()

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()  # closing does not wait for room
            self._cut_later()
        await super().send(message)

    def keepalive_timeout(self) -> None:
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1011, "reason": "no answer to a ping"})
        super().keepalive_timeout()
        self._cut_later()

    def _cut_later(self) -> None:
        self.loop.call_later(GOODBYE_S, self.transport.abort)


class HttpProtocol(HttpToolsProtocol):
    """One HTTP connection. Invalid HTTP is answered in our format; headers and bodies have time limits."""

    known: Connections  # of the process
    _brought_something = False
    _idle_bytes = 0  # since the last complete part: a head, a piece of a body, or a request
    _ends = False
    _is_socket = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        if not self.known.came(self, network_of(self.client[0]) if self.client else ""):
            self._refuse("503 Service Unavailable", "There are too many connections. Try again in a moment.")

    def connection_lost(self, exc: Exception | None) -> None:
        self.known.left(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._is_socket = True
        self.known.left(self)  # sockets are limited per account
        super().handle_websocket_upgrade()

    def is_held_up(self) -> bool:
        """Return whether we have paused reading."""
        return self.flow is not None and self.flow.read_paused

    def cut(self) -> None:
        """End the connection at once, and drop unsent data from the system's buffer too."""
        if self.unread_bytes():
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.transport.abort()

    def unread_bytes(self) -> int:
        """Return the number of unsent bytes of its answers."""
        return self.transport.get_write_buffer_size()

    def taken_bytes(self) -> int | None:
        """Return how many bytes the other side has received in all; None if the system does not tell."""
        sock = self.transport.get_extra_info("socket")
        try:
            tcp_info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ACKED_AT + 8)
        except OSError:
            return None
        return int.from_bytes(tcp_info[ACKED_AT:], sys.byteorder) if len(tcp_info) == ACKED_AT + 8 else None

    def pause_writing(self) -> None:
        super().pause_writing()
        if not self._is_socket:
            self.known.is_unread(self)

    def resume_writing(self) -> None:
        self.known.is_read(self)
        super().resume_writing()

    def time_out(self) -> None:
        """End the connection, with an answer if none has begun."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        elif not self.transport.is_closing():
            self._refuse("408 Request Timeout", "The request took too long to arrive.")

    def data_received(self, data: bytes) -> None:
        self._brought_something = False
        for start in range(0, len(data), REQUEST_SLICE_BYTES):
            if not (self.transport.is_closing() or self._is_socket):
                super().data_received(data[start : start + REQUEST_SLICE_BYTES])
        self._idle_bytes = 0 if self._brought_something else self._idle_bytes + len(data)
        if self._idle_bytes > HEAD_BYTES and not self.transport.is_closing():
            self._refuse("431 Request Header Fields Too Large", f"The headers are larger than {HEAD_BYTES:,} bytes.")

    def on_message_begin(self) -> None:
        self._brought_something = True
        self.known.begun(self)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._brought_something = True
        self.known.has_head(self)
        super().on_headers_complete()
        if self._ends and self.cycle is not None:
            self.cycle.keep_alive = False
        if len(self.pipeline) > MOST_WAITING:
            self.transport.abort()
            raise ConnectionAbortedError  # stops the parser: the remaining data would cost as much again

    def on_body(self, body: bytes) -> None:
        self._brought_something = True
        self.known.has_body(self, len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.known.is_whole(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.cycle.response_complete:  # else another request of the connection has arrived meanwhile, and is next
            self.known.is_answered(self)
        super().on_response_complete()

    def shutdown(self) -> None:
        """End with the server. A connection that has not sent a request yet may still send one, because callers are
        promised that no request is lost when a new program takes over.
        """
        if self.cycle is not None:
            super().shutdown()
            return
        self._ends = True
        self.loop.call_later(FIRST_REQUEST_S, self._end_unasked)

    def _end_unasked(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse("400 Bad Request", msg)

    def _refuse(self, status: str, message: str) -> None:
        body = json.dumps({"message": message}).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


# Compressing small messages for each of many listeners costs more than it saves.
_SOCKETS: Mapping[str, Any] = {
    "timeout_keep_alive": KEEP_ALIVE_S,
    "ws": SocketProtocol,
    "ws_max_size": FRAME_BYTES,
    "ws_ping_interval": 20.0,
    "ws_ping_timeout": 20.0,
    "ws_per_message_deflate": False,
}


def protocols(limits: ConnectionLimits, ledger: Ledger | None = None) -> Mapping[str, Any]:
    """Return the protocol part of one process's uvicorn configuration; the ledger counts the use of budgets."""
    connections = Connections(limits, time.monotonic, ledger or Ledger())
    return {**_SOCKETS, "http": type("CountedHttpProtocol", (HttpProtocol,), {"known": connections})}


def connection_limits(connections: int) -> ConnectionLimits:
    """Return the limits for so many connections, or fewer if this process may not open so many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = connections if files == resource.RLIM_INFINITY else min(connections, max(files - RESERVED_FILES, 64))
    return ConnectionLimits(most=most)
