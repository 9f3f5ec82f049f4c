"""Janus, an SFU that no one here wrote, with its own pages: Debian's programs, configured in a temporary folder.

It listens on loopback, on ports that were free, and keeps nothing. Nothing of it is copied: the pages are served from
where Debian installs them, and their `settings.js`, which says where the gateway is, is ours.
"""

import functools
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from sederunt.practice import tls

PAGES = Path("/usr/share/janus/demos")
HOST, GATEWAY = "janus.example.org", "gateway.janus.example.org"
ROOM, SECRET = 1234, "adminpwd"
START_S, STOP_S = 20.0, 15.0
PLUGINS = ("videoroom", "audiobridge")

_FILES = {
    "janus.jcfg": """
general: {{
  configs_folder = "{folder}"
  debug_level = 4
  debug_colors = false
  session_timeout = 60
}}
media: {{ rtp_port_range = "{ports}" }}
nat: {{ full_trickle = true }}
plugins: {{ disable = "{plugins}" }}
transports: {{ disable = "{transports}" }}
""",
    "janus.transport.websockets.jcfg": """
general: {{
  json = "compact"
  ws = true, ws_port = {port}, ws_ip = "127.0.0.1"
  wss = true, wss_port = {secure_port}, wss_ip = "127.0.0.1"
}}
admin: {{ admin_ws = false, admin_wss = false }}
certificates: {{ cert_pem = "{folder}/certificate.pem", cert_key = "{folder}/key.pem" }}
""",
    "janus.plugin.videoroom.jcfg": """
general: {{ events = false }}
room-{room}: {{
  description = "Tests", secret = "{secret}", publishers = 6, bitrate = 512000, fir_freq = 10
  audiolevel_event = true, audio_active_packets = 15, audio_level_average = 60
}}
""",
    "janus.plugin.audiobridge.jcfg": """
general: {{ events = false }}
room-{room}: {{
  description = "Tests", secret = "{secret}", sampling_rate = 16000, record = false
  audiolevel_event = true, audio_active_packets = 15, audio_level_average = 60
}}
""",
}


@dataclass(frozen=True, kw_only=True)
class Janus:
    """A running gateway and the web server of its pages."""

    desk_url: str  # its WebSocket for whoever runs it
    host_rules: (
        str  # under which a browser finds the pages at HOST, and these the gateway, with a certificate of its own
    )

    @asynccontextmanager
    async def desk(self, plugin: str) -> AsyncIterator["Desk"]:
        """Sit at the gateway's own interface, as whoever runs it would."""
        async with connect(self.desk_url, subprotocols=[Subprotocol("janus-protocol")]) as line:
            desk = Desk(line, plugin)
            await desk.open()
            yield desk


class Desk:
    """Asks one plug-in of the gateway about its room."""

    def __init__(self, line: ClientConnection, plugin: str) -> None:
        self._line, self._plugin = line, plugin
        self._place: dict[str, int] = {}

    async def open(self) -> None:
        self._place["session_id"] = (await self._call(janus="create"))["data"]["id"]
        attached = await self._call(janus="attach", plugin=f"janus.plugin.{self._plugin}")
        self._place["handle_id"] = attached["data"]["id"]

    async def ask(self, request: str, **fields: Any) -> dict[str, Any]:
        """Have the room do something, or tell of it."""
        body = {"request": request, "room": ROOM, "secret": SECRET, **fields}
        answer: dict[str, Any] = (await self._call(janus="message", body=body))["plugindata"]["data"]
        assert "error" not in answer, answer
        return answer

    async def people(self) -> dict[str, int]:
        """Who is in the room: name → id."""
        listed = (await self.ask("listparticipants"))["participants"]
        return {person["display"]: person["id"] for person in listed if "display" in person}

    async def _call(self, **message: Any) -> dict[str, Any]:
        transaction = uuid4().hex
        await self._line.send(json.dumps({**message, **self._place, "transaction": transaction}))
        while True:
            answer: dict[str, Any] = json.loads(await self._line.recv())
            if answer.get("transaction") == transaction and answer["janus"] != "ack":
                return answer


@contextmanager
def janus_server() -> Iterator[Janus]:
    """Start gateway and pages, stop both at the end. Skips (or, in CI, fails) where Janus is not installed."""
    program = shutil.which("janus")
    if program is None or not PAGES.is_dir():
        missing = "Janus is not installed (apt-get install janus janus-demos): nobody else's meetings are tried"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="sederunt-janus-"))
    try:
        made = tls.make(folder, [HOST, GATEWAY])
        with _gateway(program, folder) as (port, secure_port), _pages(made) as pages_port:
            rules = f"MAP {GATEWAY} 127.0.0.1:{secure_port},MAP {HOST} 127.0.0.1:{pages_port}"
            yield Janus(desk_url=f"ws://127.0.0.1:{port}", host_rules=rules)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _gateway(program: str, folder: Path) -> Iterator[tuple[int, int]]:
    port, secure_port = _free_port(), _free_port()
    modules = Path("/usr/lib").glob("*/janus")
    found = next(modules)
    values = {
        "folder": folder,
        "port": port,
        "secure_port": secure_port,
        "ports": "20000-40000",
        "room": ROOM,
        "secret": SECRET,
        "plugins": _others(found / "plugins", PLUGINS),
        "transports": _others(found / "transports", ("websockets",)),
    }
    for name, text in _FILES.items():
        (folder / name).write_text(text.format(**values), encoding="utf-8")
    log = folder / "janus.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "-F", folder], cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL
        )
    try:
        for each in (port, secure_port):
            _await_port(each, process, log)
        yield port, secure_port
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"Janus did not end:\n{log.read_text(errors='replace')[-2000:]}") from None


def _others(folder: Path, wanted: tuple[str, ...]) -> str:
    """The modules of a folder that are not to be loaded, as its configuration names them."""
    return ",".join(sorted(found.name for found in folder.glob("*.so") if found.stem.split("_")[1] not in wanted))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"Janus did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


class _Pages(SimpleHTTPRequestHandler):
    """Debian's pages, but for where the gateway is."""

    protocol_version = "HTTP/1.1"
    settings = b""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/settings.js":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(self.settings)))
        self.end_headers()
        self.wfile.write(self.settings)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Quiet."""


@contextmanager
def _pages(made: tls.Certificate) -> Iterator[int]:
    settings = f"var server = 'wss://{GATEWAY}', iceServers = [], token = null, apisecret = null;"
    handler = functools.partial(type("Pages", (_Pages,), {"settings": settings.encode()}), directory=PAGES)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a browser hangs up in the middle
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
