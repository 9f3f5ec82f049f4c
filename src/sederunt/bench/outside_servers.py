"""The other side of a measured service: servers of recordings (good and bad) and a receiver of webhooks."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from typing import Any

from sederunt.bench.hostile_files import boxes, elements, lasting_years

DRIP_S = 1.0
SILENT_HOSTS = 8  # receivers; what waits is counted for each of them
HARMFUL: Mapping[str, Callable[[], bytes]] = {"/elements": elements, "/boxes": boxes, "/years": lasting_years}


class Outside:
    """Answers /talk (a file), /drip (a byte now and then), /silent (never), /hook (webhooks), the files of HARMFUL; 404
    for anything else.
    """

    def __init__(self, file: bytes) -> None:
        self._file = file
        self._marks = count()
        self._given: dict[str, float] = {}  # mark → when the file had gone out, Unix seconds
        self._told: dict[tuple[str, str], float] = {}  # recording and status → when its webhook came
        self._changed = asyncio.Condition()
        self.url = ""
        self.silent_urls: list[str] = []

    def next_mark(self) -> str:
        """Return what tells one fetch from others, to be put behind /talk?."""
        return f"n{next(self._marks)}"

    async def given(self, mark: str) -> float:
        """Return when the file was fetched, once it was."""
        async with self._changed:
            await self._changed.wait_for(lambda: mark in self._given)
        return self._given[mark]

    async def told(self, recording_id: str, status: str) -> float:
        """Return when a webhook told of a status, once one did."""
        async with self._changed:
            await self._changed.wait_for(lambda: (recording_id, status) in self._told)
        return self._told[recording_id, status]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path, _, mark = head.split(" ", 2)[1].partition("?")
            await self._answer(path, mark, head.lower(), reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked is gone, or the measurement is over
        finally:
            writer.close()

    async def _answer(
        self, path: str, mark: str, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if path == "/talk":
            await _send(writer, "200 OK", self._file, "audio/wav")
            await self._note(given=mark)
        elif path == "/hook":
            body = await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
            await self._note(told=json.loads(body))
            await _send(writer, "200 OK", b"{}", "application/json")
        elif path == "/drip":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: audio/wav\r\n\r\n")
            while True:
                writer.write(b"R")
                await writer.drain()
                await asyncio.sleep(DRIP_S)
        elif path == "/silent":
            await reader.read()
        elif path in HARMFUL:
            await _send(writer, "200 OK", _harmful(path), "video/webm")
        else:
            await _send(writer, "404 Not Found", b"nothing", "text/plain")

    async def _note(self, *, given: str = "", told: dict[str, Any] | None = None) -> None:
        async with self._changed:
            if given:
                self._given[given] = time.time()
            if told is not None:
                self._told.setdefault((told.get("recording_id", ""), told["data"].get("new_status", "")), time.time())
            self._changed.notify_all()


@asynccontextmanager
async def outside(file: bytes) -> AsyncIterator[Outside]:
    """Provide one that listens on a loopback port, and under further addresses of this machine."""
    made = Outside(file)
    server = await asyncio.start_server(made.serve, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    made.url = f"http://127.0.0.1:{port}"
    made.silent_urls = [f"http://127.0.0.{host}:{port}" for host in range(10, 10 + SILENT_HOSTS)]
    try:
        yield made
    finally:
        server.close()


@cache
def _harmful(path: str) -> bytes:
    return HARMFUL[path]()


async def _send(writer: asyncio.StreamWriter, status: str, body: bytes, kind: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
