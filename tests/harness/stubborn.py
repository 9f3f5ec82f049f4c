"""A server on a loopback port that gives some callers what they ask for, and keeps all others waiting."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

DRIP_S = 0.2


class StubbornServer:
    """Answers /talk (a file), /drip (a byte now and then), /silent (never), /hook (webhooks), /v1/listen (a vendor)."""

    def __init__(self, file: bytes) -> None:
        self._file = file
        self.served: set[str] = set()  # recordings that the vendor transcribes; of others it says nothing
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()  # under way at once
        self.asked: Counter[str] = Counter()
        self.hooks: list[dict[str, Any]] = []
        self._changed = asyncio.Condition()

    async def wait(self, path: str, under_way: int) -> None:
        """Wait until so many requests of a path are under way."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.under_way[path] >= under_way)

    async def wait_for_hook(self, recording_id: str, status: str) -> None:
        """Wait for the webhook that tells of a status."""
        async with self._changed:
            await self._changed.wait_for(lambda: status in self.told(recording_id))

    def told(self, recording_id: str) -> list[str]:
        """The statuses that webhooks told of a recording."""
        mine = [hook for hook in self.hooks if hook.get("recording_id") == recording_id]
        return [str(hook["data"].get("new_status")) for hook in mine]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        target = urlsplit(head.split(" ", 2)[1])
        body = await _body(reader, head.lower())
        await self._count(target.path, +1)
        # Who is silent hears of a caller that gave up by reading alone: such a request is under way no more.
        answer = self._answer(target.path, parse_qs(target.query), body, writer)
        tasks = [asyncio.ensure_future(each) for each in (answer, reader.read(1))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._count(target.path, -1)
            writer.close()

    async def _answer(self, path: str, query: dict[str, list[str]], body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "/hook":
            async with self._changed:
                self.hooks.append(json.loads(body))
                self._changed.notify_all()
            await _send(writer, b"{}")
        elif path == "/talk":
            await _send(writer, self._file)
        elif path == "/v1/listen" and query["tag"][0].rpartition("-")[0] in self.served:
            await _send(writer, json.dumps(_transcript()).encode())
        else:
            if path == "/drip":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: audio/wav\r\n\r\n")
            while not writer.is_closing():
                if path == "/drip":
                    writer.write(b"R")
                    await writer.drain()
                await asyncio.sleep(DRIP_S)

    async def _count(self, path: str, change: int) -> None:
        async with self._changed:
            self.under_way[path] += change
            self.asked[path] += change > 0
            self.most[path] = max(self.most[path], self.under_way[path])
            self._changed.notify_all()


@asynccontextmanager
async def stubborn_server(file: bytes) -> AsyncIterator[tuple[StubbornServer, list[str]]]:
    """The server on four ports, four receivers to whoever counts them; with their addresses."""
    known = StubbornServer(file)
    requests: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_quietly(known, reader, writer))
        requests.add(task)
        task.add_done_callback(requests.discard)

    servers = [await asyncio.start_server(connected, "127.0.0.1", 0) for _ in range(4)]
    try:
        yield known, [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    finally:
        for server in servers:
            server.close()
        for task in list(requests):
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)


async def _quietly(known: StubbornServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await known.serve(reader, writer)
    except (OSError, asyncio.IncompleteReadError):  # the caller hung up
        writer.close()


async def _body(reader: asyncio.StreamReader, head: str) -> bytes:
    lengths = [line.partition(":")[2] for line in head.splitlines() if line.startswith("content-length:")]
    if lengths:
        return await reader.readexactly(int(lengths[0]))
    body = b""
    while "transfer-encoding: chunked" in head and (size := int((await reader.readline()).strip() or b"0", 16)):
        body += await reader.readexactly(size)
        await reader.readline()
    return body


async def _send(writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n")
    writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()


def _transcript() -> dict[str, Any]:
    word = {"word": "hello", "punctuated_word": "Hello.", "start": 0.1, "end": 0.5, "confidence": 0.9, "speaker": 0}
    alternative = {"transcript": "Hello.", "confidence": 0.9, "words": [word]}
    return {
        "metadata": {"duration": 1.0, "request_id": "r"},
        "results": {"channels": [{"alternatives": [alternative]}]},
    }
