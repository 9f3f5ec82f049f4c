"""What cannot be read a second time is sent once, whole, or not at all."""

import asyncio
import io
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pytest

from sederunt_client import AsyncClient, Client, SederuntClientError, TooManyRequests

SOUND = bytes(range(250)) * 200  # 50 kB


class Service(ThreadingHTTPServer):
    """Keeps the bodies it is sent, and answers each with 429."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        if (length := self.headers.get("content-length")) is not None:
            body = self.rfile.read(int(length))
        else:
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        self.server.bodies.append(body)
        self.send_response(429)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


class Once(io.BytesIO):
    def seekable(self) -> bool:
        return False


def a_pipe() -> IO[bytes]:
    ours, theirs = os.pipe()

    def fill() -> None:
        with os.fdopen(theirs, "wb") as file:
            file.write(SOUND)

    threading.Thread(target=fill, daemon=True).start()
    return os.fdopen(ours, "rb")


def send(service: Service, source: Any, is_async: bool, **more: Any) -> None:
    url = f"http://127.0.0.1:{service.server_port}"

    async def send_it() -> None:
        async with AsyncClient(url, "k") as awaited:
            await awaited.create_recording(transcription_model="whisper", recording_file=source, **more)

    if is_async:
        asyncio.run(send_it())
        return
    with Client(url, "k") as blocking:
        blocking.create_recording(transcription_model="whisper", recording_file=source, **more)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("is_told", [False, True])
@pytest.mark.parametrize("kind", ["once", "pipe"])
def test_a_stream_is_sent_whole_and_once(service: Service, kind: str, is_told: bool, is_async: bool) -> None:
    told: list[int] = []
    more = {"on_progress": lambda sent, _: told.append(sent)} if is_told else {}
    with a_pipe() if kind == "pipe" else Once(SOUND) as source, pytest.raises(TooManyRequests):
        send(service, source, is_async, **more)
    (body,) = service.bodies
    assert body.count(SOUND) == 1
    assert told[-1:] == ([len(SOUND)] if is_told else [])


@pytest.mark.parametrize("is_async", [False, True])
def test_what_can_be_read_again_is_tried_again(service: Service, is_async: bool, tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(SOUND)
    for source in (path, io.BytesIO(SOUND)):
        service.bodies.clear()
        with pytest.raises(TooManyRequests):
            send(service, source, is_async)
        assert [body.count(SOUND) for body in service.bodies] == [1] * 4


@pytest.mark.parametrize("is_async", [False, True])
def test_a_file_that_grows_while_it_is_sent_is_told_as_such(service: Service, is_async: bool) -> None:
    class Growing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or b"and more"

    with pytest.raises(SederuntClientError, match="changed while it was sent"):
        send(service, Growing(SOUND), is_async)
