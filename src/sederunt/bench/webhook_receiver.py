"""A cheap receiver of webhooks that notes when each one came."""

import asyncio
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Hooks:
    """What arrived: for each bot its statuses in order, each with the second (Unix) of its arrival."""

    told: defaultdict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    url: str = ""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, status: str) -> int:
        """Return how many bots were told to have reached a status."""
        return sum(any(each == status for each, _ in told) for told in self.told.values())

    async def until(self, status: str, bots: int, *, within_s: float) -> None:
        """Wait until so many bots were told to have reached a status. SystemExit past the deadline."""
        try:
            async with asyncio.timeout(within_s):
                while self.count(status) < bots:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            count = self.count(status)
            raise SystemExit(f"{count} of {bots} bots were told to be {status} within {within_s:.0f} s") from None

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
                if "new_status" in body["data"]:
                    self.told[body["bot_id"]].append((body["data"]["new_status"], time.time()))
                    self._news.set()
                writer.write(_ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def hooks_received() -> AsyncIterator[Hooks]:
    """Receive webhooks on a loopback port until the end of the block."""
    hooks = Hooks()
    server = await asyncio.start_server(hooks._take, "127.0.0.1", 0, backlog=1000)
    hooks.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    try:
        yield hooks
    finally:
        server.close()
