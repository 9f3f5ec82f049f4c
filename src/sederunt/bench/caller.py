"""A caller that costs little: plain sockets, one request after another on each, so that the other side is measured."""

import asyncio
import json
import socket
import statistics
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PREFIX = "/api/v1"
_BOUNDARY = "sederunt-bench"
_BLOCK = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class Load:
    """What came of many requests."""

    requests: int
    times_ms: Sequence[float]
    answer_bytes: int  # of the last answer


@dataclass(frozen=True, slots=True)
class ApiClient:
    """One key at one api."""

    host: str
    port: int
    key: str

    def request(
        self, method: str, path: str, body: object = None, *, held: str | None = None, takes: str | None = None
    ) -> bytes:
        """Return a whole request; it may be sent again and again.

        Args:
            held: the tag of the answer that the caller has already.
            takes: how it takes the answer compressed, such as "gzip".
        """
        data = json.dumps(body).encode() if body is not None else b""
        return self._head(method, path, "application/json", len(data), held, takes) + data

    async def ask(self, request: bytes) -> dict[str, Any]:
        """Send a request and return its answer, parsed."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 26)
        try:
            writer.write(request)
            answer: dict[str, Any] = json.loads(await _answer(reader))
            return answer
        finally:
            writer.close()

    async def tag(self, path: str) -> str:
        """Return the tag of the answer to a GET."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 26)
        try:
            writer.write(self.request("GET", path))
            return _field(await reader.readuntil(b"\r\n\r\n"), b"etag").decode()
        finally:
            writer.close()

    async def load(self, request: bytes, times: int, connections: int) -> Load:
        """Send it so many times over kept connections. SystemExit where the answer is neither 200 nor 304."""
        shares = [times // connections + (n < times % connections) for n in range(connections)]
        done = await asyncio.gather(*(self._repeat(request, share) for share in shares))
        return Load(times, [ms for times_ms, _ in done for ms in times_ms], done[0][1])

    def upload_silence(self, size: int) -> None:
        """POST a WAV file of so many bytes to /recording. Blocks: for a thread."""
        before = (
            f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name=\"transcription_model\"\r\n\r\nwhisper\r\n"
            f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name=\"recording_file\"; filename=\"a.wav\"\r\n\r\n"
        ).encode()  # fmt: skip
        after = f"\r\n--{_BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={_BOUNDARY}"
        head = self._head("POST", "/recording", kind, len(before) + size + len(after))
        with socket.create_connection((self.host, self.port), timeout=600) as line:
            line.sendall(head + before + _wav_head(size))
            left = size - 44
            while left:
                line.sendall(_BLOCK[: min(left, len(_BLOCK))])
                left -= min(left, len(_BLOCK))
            line.sendall(after)
            status = line.recv(64).split(b"\r\n")[0]
        if b" 200 " not in status:
            raise SystemExit(f"the api answered the upload with {status.decode()}")

    async def _repeat(self, request: bytes, times: int) -> tuple[list[float], int]:
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 26)
        times_ms, size = [], 0
        try:
            for _ in range(times):
                started = time.perf_counter()
                writer.write(request)
                size = len(await _answer(reader))
                times_ms.append((time.perf_counter() - started) * 1000)
        finally:
            writer.close()
        return times_ms, size

    def _head(
        self, method: str, path: str, kind: str, length: int, held: str | None = None, takes: str | None = None
    ) -> bytes:
        fields = {
            "Host": f"{self.host}:{self.port}",
            "Authorization": f"Bearer {self.key}",
            "Content-Type": kind,
            "Content-Length": length,
            "If-None-Match": held,
            "Accept-Encoding": takes,
        }
        lines = (f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
        return f"{method} {PREFIX}{path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode()


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that so many percent do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]


def _field(head: bytes, name: bytes) -> bytes:
    return head.lower().split(name + b":")[1].split(b"\r\n")[0].strip()


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 304 "):
        return b""
    body = await reader.readexactly(int(_field(head, b"content-length")))
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"the api answered {head.splitlines()[0].decode()}: {body[:300].decode()}")
    return body


def _wav_head(size: int) -> bytes:
    """Mono PCM16 at 16 kHz."""
    sound = size - 44
    form = struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", size - 8)
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + b"data"
        + struct.pack("<I", sound)
    )
