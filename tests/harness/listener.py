"""A client of a bot's sockets, as any program could be one."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

WAIT_S = 150  # longer than two pings are apart


class Listener:
    """One open socket, and everything it was sent, in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []

    async def next(self) -> dict[str, Any]:
        """The next message."""
        async with asyncio.timeout(WAIT_S):
            message: dict[str, Any] = json.loads(await self.socket.recv())
        self.heard.append(message)
        return message

    async def until(self, kind: str) -> dict[str, Any]:
        """The next message of a kind; those before it are noted."""
        while True:
            message = await self.next()
            if message["type"] == kind:
                return message

    async def closed(self) -> tuple[int, str]:
        """Listen to the end; (code, reason)."""
        try:
            while True:
                await self.next()
        except ConnectionClosed:
            return int(self.socket.close_code or 0), self.socket.close_reason or ""

    async def act(self, action: str, **data: Any) -> None:
        """Send an action."""
        await self.socket.send(json.dumps({"action": action, **({"data": data} if data else {})}))

    @property
    def kinds(self) -> list[str]:
        return [message["type"] for message in self.heard]


@asynccontextmanager
async def listening(address: str, since: int | None = None) -> AsyncIterator[Listener]:
    """Open a socket; websockets.exceptions.InvalidStatus where it is refused."""
    query = "" if since is None else f"?since={since}"
    async with connect(address + query, max_size=None, open_timeout=WAIT_S) as socket:
        yield Listener(socket)
