"""An installed package: its meeting site is joined by a bot, its vendor's model transcribes a recording."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path

import httpx2
import pytest

from harness import plugin
from harness.journeys import look, reach, send_bot
from harness.platforms_room import StaticSite
from harness.receiver import Receiver
from harness.service import Service
from sederunt.practice.clips import SHIPPED

ROOM = "https://roundtable.example.org/room/monday"
STENO_KEY = "steno-key-2718"
WORDS = (("Ask", "A"), ("not.", "A"), ("Why", "B"), ("not?", "B"))
MINUTES = {
    "language": "en",
    "items": [{"text": word, "from": n / 2, "to": n / 2 + 0.4, "who": who} for n, (word, who) in enumerate(WORDS)],
}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[StaticSite]:
    made = StaticSite(tmp_path)
    await made.start()
    made.put("/room/monday", (plugin.PLUGIN / "room.html").read_text(encoding="utf-8"))
    yield made
    await made.stop()


class Steno:
    """The vendor of the package: takes a file with its key, and answers with what is said in it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bytes]] = []
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sound = b"".join(chunks(self.rfile, self.headers["content-length"]))
                vendor.asked.append((self.path, self.headers["content-type"], sound))
                known = self.headers["x-steno-key"] == STENO_KEY
                answer = json.dumps(MINUTES if known else {"error": "unknown key"}).encode()
                self.send_response(200 if known else 401)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def chunks(stream: BufferedIOBase, length: str | None) -> Iterator[bytes]:
    """Read a request's body, with a length or in chunks."""
    if length is not None:
        yield stream.read(int(length))
        return
    while size := int(stream.readline(), 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


@pytest.fixture
def steno() -> Iterator[Steno]:
    vendor = Steno()
    yield vendor
    vendor.close()


@pytest.fixture
async def api(tmp_path: Path, site: StaticSite, steno: Steno) -> AsyncIterator[httpx2.AsyncClient]:
    package = plugin.install(tmp_path / "package")
    vendor = {"SEDERUNT_PROVIDERS__STENO__KEY": STENO_KEY, "SEDERUNT_PROVIDERS__STENO__URL": steno.url}
    service = Service(tmp_path / "data", site.host_rules, {**plugin.on_path(package), **vendor})
    async with service.client() as client:
        yield client
    service.stop()


async def test_a_bot_attends_a_meeting_at_a_site_from_a_package(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    document = (await api.get("/openapi.json")).json()
    offered = document["components"]["schemas"]["Bot"]["properties"]["service"]["enum"]
    assert offered[-2:] == ["janus", "roundtable"]

    body = {"transcription_model": "none", "service": "roundtable", "meeting_url": "https://zoom.us/j/123456789"}
    refused = await api.post("/bot", json={**body, "bot_name": "Minutes"})
    assert refused.status_code == 400
    assert "expected https://roundtable.example.org/room/<name>" in refused.text

    bot = await send_bot(api, ROOM, receiver, service="roundtable", initial_chat_message="Hello, table.")
    await reach(receiver, bot, "finished")
    found = await look(api, bot)
    assert (found["service"], found["status"], found["stop_reason"]) == ("roundtable", "finished", "meeting_ended")
    assert {person["name"] for person in found["participants"]} >= {"Ada Lovelace"}
    assert receiver.statuses(bot["id"])[:2] == ["joining", "recording"]


async def test_a_recording_is_transcribed_by_a_vendor_from_a_package(
    api: httpx2.AsyncClient, steno: Steno, receiver: Receiver
) -> None:
    clip = next(SHIPPED.glob("*.wav")).read_bytes()
    fields = {"transcription_model": "steno", "webhook_url": receiver.url}
    made = (await api.post("/recording", data=fields, files={"recording_file": ("speech.wav", clip)})).json()
    reached = await asyncio.to_thread(receiver.wait, made["id"], "finished", "failed", timeout_s=120)
    found = (await api.get(f"/recording/{made['id']}")).json()
    assert reached == "finished", found["events"]
    said = [(segment["speaker"], segment["transcript"]) for segment in found["transcript"]]
    assert said == [(0, "Ask not."), (1, "Why not?")]
    assert found["detected_lang"] == "en"
    [(path, _, sound)] = steno.asked
    assert path == "/v1/minutes?model=one&voices=true"
    assert len(sound) > 1000
    prices = (await api.get("/pricing")).json()
    assert "steno" in json.dumps(prices)
