"""uvicorn's protocols: what is no HTTP is answered in JSON too, and a listener that does not read is let go.

uvicorn waits for ever for room in the line, also before it says goodbye, and keeps a connection until everything was
taken. Nothing in ASGI can cut one off.
"""

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LINE_BYTES = 256 * 1024  # what the system may hold for one listener: some seconds of sound, an hour of events
GOODBYE_S = 5.0  # a listener may take so long to read what is on the line before its connection is cut
FRAME_BYTES = 128 * 1024  # of an action; a chat message of the longest kind in escapes has half


class SocketProtocol(WebSocketsSansIOProtocol):
    """One connection that became a socket."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BYTES)
        super().connection_made(transport)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()  # a goodbye does not wait for room
            self._cut_later()
        await super().send(message)

    def keepalive_timeout(self) -> None:
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1011, "reason": "no answer to a ping"})
        super().keepalive_timeout()
        self._cut_later()

    def _cut_later(self) -> None:
        self.loop.call_later(GOODBYE_S, self.transport.abort)


class HttpProtocol(HttpToolsProtocol):
    """One connection, whose first fault is told like every other."""

    def send_400_response(self, msg: str) -> None:
        body = json.dumps({"message": msg}).encode()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


# For uvicorn's configuration. Small messages to many listeners: compressing each for each costs more than it saves.
PROTOCOLS: Mapping[str, Any] = {
    "http": HttpProtocol,
    "ws": SocketProtocol,
    "ws_max_size": FRAME_BYTES,
    "ws_ping_interval": 20.0,
    "ws_ping_timeout": 20.0,
    "ws_per_message_deflate": False,
}
