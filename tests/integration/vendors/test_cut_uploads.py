"""Files that a vendor did not take whole: it cannot have transcribed them, and says why when it is asked without."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings
from sederunt.transcription import deepgram, elevenlabs, speechmatics
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import VendorCall
from sederunt.transcription.cloud.client import Client, Manners, Unanswered
from sederunt.transcription.cloud.job import Notes, VendorJob
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.cloud.vendor import asked

MB = 1_000_000
ACCESS = Access(key="secret-key", label="the operator's key")
PLUGS = {"deepgram": deepgram.PROVIDER, "elevenlabs": elevenlabs.PROVIDER, "speechmatics": speechmatics.PROVIDER}
UNAUTHORISED = (
    b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
)
FINE = UNAUTHORISED.replace(b"401 Unauthorized", b"200 OK")


class Blunt:
    """A server that reads headers alone: `answer` says what it does then with the open connection."""

    def __init__(self, answer: Callable[["Blunt", str, socket.socket], None]) -> None:
        self._answer = answer
        self.asked: list[str] = []
        self.over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            head = b""
            while b"\r\n\r\n" not in head:
                # Byte by byte, so that what follows stays unread: closing then resets the connection.
                if not (piece := connection.recv(1)):
                    return
                head += piece
            method = head.split(b" ", 1)[0].decode()
            self.asked.append(method)
            self._answer(self, method, connection)

    def stop(self) -> None:
        self.over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def blunt(answer: Callable[[Blunt, str, socket.socket], None]) -> Iterator[Blunt]:
    server = Blunt(answer)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def says(told: bytes) -> Callable[[Blunt, str, socket.socket], None]:
    """Answer after the headers, and close."""
    return lambda _server, _method, connection: connection.sendall(told)


def resets(told: bytes) -> Callable[[Blunt, str, socket.socket], None]:
    """Close on whoever sends a body, without a word; answer who does not."""

    def answer(_server: Blunt, method: str, connection: socket.socket) -> None:
        if method == "GET":
            connection.sendall(told)

    return answer


def stalls(server: Blunt, method: str, connection: socket.socket) -> None:
    """Read no body, and keep the connection open."""
    if method == "GET":
        connection.sendall(FINE)
    else:
        server.over.wait(30)


async def _no_pause(_seconds: float) -> None:
    """Wait for nothing."""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[int], Path]:
    def make(size: int) -> Path:
        path = tmp_path / "sound.ogg"
        with path.open("wb") as out:
            out.truncate(size)
        return path

    return make


async def refused(name: str, url: str, path: Path, **manners: Any) -> tuple[BaseException, dict[str, Any]]:
    """How a vendor's transcription of a file ends, and what is noted of it."""
    plug = PLUGS[name]
    assert isinstance(plug, CloudProvider)
    notes: dict[str, Any] = {}
    model = next(row for row in plug.models if not row.realtime)
    ask = asked(model, ACCESS, lang="en", vocabulary=(), mask_profanity=False, mixed=False)
    patience = Manners(**{"pause": _no_pause, "reply_s": 5.0, **manners})
    with pytest.raises((ProviderError, SetupError)) as told:
        async with Client(plug.vendor, Settings(providers={name: {"url": url}}), ACCESS, patience) as client:
            await plug.vendor.batch(VendorJob(ask, path, client, Notes({}, notes.update)))
    return told.value, notes


@pytest.mark.parametrize("size", [5 * MB, 30 * MB])
@pytest.mark.parametrize("answer", [says(UNAUTHORISED), resets(UNAUTHORISED)], ids=["says", "resets"])
@pytest.mark.parametrize("name", PLUGS)
async def test_a_key_that_is_refused_before_the_file_is_read_is_told(
    name: str, answer: Any, size: int, file: Callable[[int], Path]
) -> None:
    with blunt(answer) as server:
        error, notes = await refused(name, server.url, file(size))
    assert isinstance(error, ProviderError)
    assert (error.kind, error.retryable) == (ProviderFault.AUTH, False)
    assert server.asked.count("POST") == 1
    assert (notes["begun"], notes["lost"]) == ([], [])


@pytest.mark.parametrize("other", [b"404 Not Found", b"403 Forbidden", b"500 Oh", b"429 Slow"])
async def test_what_else_the_vendor_says_then_ends_nothing(other: bytes, file: Callable[[int], Path]) -> None:
    with blunt(resets(UNAUTHORISED.replace(b"401 Unauthorized", other))) as server:
        error, notes = await refused("deepgram", server.url, file(5 * MB))
    assert isinstance(error, Unanswered)
    assert (error.kind, error.retryable, error.may_count) == (ProviderFault.TRANSIENT, True, False)
    assert server.asked.count("POST") == 5
    assert notes["lost"] == []


async def test_an_empty_account_is_told(file: Callable[[int], Path]) -> None:
    with blunt(resets(UNAUTHORISED.replace(b"401 Unauthorized", b"402 Payment Required"))) as server:
        error, _ = await refused("deepgram", server.url, file(5 * MB))
    assert isinstance(error, ProviderError)
    assert (error.kind, server.asked.count("POST")) == (ProviderFault.PAYMENT, 1)


@pytest.mark.parametrize("name", PLUGS)
async def test_a_server_that_stops_reading_has_not_transcribed_it(name: str, file: Callable[[int], Path]) -> None:
    with blunt(stalls) as server:
        error, notes = await refused(name, server.url, file(30 * MB), reply_s=0.3, connect_s=0.3, tries=2)
    assert isinstance(error, ProviderError)
    assert (error.kind, error.retryable) == (ProviderFault.TRANSIENT, True)
    assert notes["lost"] == []
    assert server.asked.count("POST") == 2


async def test_a_file_that_was_sent_whole_may_be_billed(file: Callable[[int], Path]) -> None:
    def swallow(_server: Blunt, method: str, connection: socket.socket) -> None:
        left = MB
        while method == "POST" and left > 0:
            left -= len(connection.recv(left))

    with blunt(swallow) as server:
        error, _ = await refused("deepgram", server.url, file(MB))
    assert isinstance(error, ProviderError)
    assert (error.kind, server.asked) == (ProviderFault.IN_DOUBT, ["POST", "POST"])


@pytest.mark.parametrize("url", ["127.0.0.1:9", "api.example.org/v1", "ftp://127.0.0.1:9", "http://127.0.0.1:x"])
async def test_where_there_is_no_address_nothing_is_in_doubt(url: str, file: Callable[[int], Path]) -> None:
    error, notes = await refused("deepgram", url, file(MB))
    assert isinstance(error, SetupError)
    assert "SEDERUNT_PROVIDERS__DEEPGRAM__URL" in str(error)
    assert not notes.get("begun")


@pytest.mark.parametrize("address", ["s3://bucket/transcript", "http://host:port/x"])
async def test_an_address_of_the_vendors_that_is_none_is_its_failure(address: str) -> None:
    plug = PLUGS["deepgram"]
    async with Client(plug.vendor, Settings(), ACCESS, Manners(pause=_no_pause)) as client:
        with pytest.raises(ProviderError, match="failed to answer") as told:
            await client.fetch(VendorCall(method="GET", path=address))
    assert (told.value.kind, told.value.retryable) == (ProviderFault.PROVIDER_FAILED, False)
