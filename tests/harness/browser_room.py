"""What tests of the browser share: an ear for what leaves a page, a seat in a practice meeting, pages of our own."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sederunt.browser.page import MeetingPage, Signal
from sederunt.model.audio import CapturedFrame, Codec
from sederunt.practice.meeting import Meeting
from sederunt.practice.script import CastMember, ScriptedAct
from sederunt.practice.sfu import SentPacket

WAIT_S = 60.0
NAME_FIELD = 'input[aria-label="Your name"]'
# The page, and what is framed in it.
LOADED = "() => new Promise((r) => document.readyState === 'complete' ? r() : (window.onload = r))"
WHEN_THERE = """(selector) => new Promise((resolve) => {
  const look = () => (document.querySelector(selector) ? resolve(true) : setTimeout(look, 20));
  look();
})"""

# Two connections in one page: `there` speaks, `here` listens. `listen(here)` runs before anything is negotiated.
CALL = """
window.call = async ({ listen = () => {}, options = {}, kinds = ["audio"], answerAsks = false } = {}) => {
  const there = new RTCPeerConnection(options.there || {}), here = new RTCPeerConnection(options.here || {});
  window.here = here; window.there = there;
  there.onicecandidate = (e) => here.addIceCandidate(e.candidate);
  here.onicecandidate = (e) => there.addIceCandidate(e.candidate);
  if (kinds.includes("audio")) {
    const context = new AudioContext();
    const tone = new OscillatorNode(context, { frequency: 440 });
    const out = context.createMediaStreamDestination();
    tone.connect(out); tone.start();
    there.addTrack(out.stream.getAudioTracks()[0], out.stream);
  }
  if (kinds.includes("video")) {
    const canvas = document.createElement("canvas"); const pen = canvas.getContext("2d"); let n = 0;
    setInterval(() => { pen.fillStyle = `hsl(${n++ * 9},90%,50%)`; pen.fillRect(0, 0, 300, 150); }, 50);
    there.addTrack(canvas.captureStream(20).getVideoTracks()[0]);
  }
  listen(here, there);
  await there.setLocalDescription();
  await here.setRemoteDescription(there.localDescription);
  await here.setLocalDescription();
  await there.setRemoteDescription(here.localDescription);
};
"""


@dataclass
class Ear:
    """What left one page, and waiting for more of it."""

    frames: list[CapturedFrame] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, frames: Sequence[CapturedFrame]) -> None:
        self.frames.extend(frames)
        self.news.set()

    def hear(self, signal: Signal) -> None:
        self.signals.append(signal)
        self.news.set()

    async def until(self, is_so: Callable[["Ear"], object], within_s: float = WAIT_S) -> None:
        """Wait until something holds of what came."""
        try:
            async with asyncio.timeout(within_s):
                while not is_so(self):
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            came = Counter((frame.track, frame.codec.name) for frame in self.frames)
            raise AssertionError(f"waited in vain; frames {came}, signals {self.signals[-8:]}") from None

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The data of all signals of a kind."""
        return [signal.data for signal in self.signals if signal.kind == kind]

    def audio(self, *codecs: Codec) -> list[CapturedFrame]:
        wanted = codecs or (Codec.OPUS, Codec.RED)
        return [frame for frame in self.frames if frame.codec in wanted]

    def packets(self) -> set[tuple[int, int, int, tuple[int, ...], str]]:
        """Every captured Opus packet with contents: (ssrc, sequence, timestamp, CSRCs, SHA-256)."""
        return {
            (f.ssrc, f.sequence, f.timestamp, f.csrcs, hashlib.sha256(f.payload).hexdigest())
            for f in self.audio()
            if f.payload
        }


@dataclass
class Stay:
    """One bot's page, and what it heard."""

    page: MeetingPage
    ear: Ear


OpenPage = Callable[..., Awaitable[Stay]]

CAST = (CastMember(name="Ada Lovelace"), CastMember(name="Charles Babbage"))
ACTS = (
    ScriptedAct(at_s=0.2, do="say", who="Ada Lovelace", clip="cities_times"),
    ScriptedAct(at_s=0.4, do="say", who="Charles Babbage", clip="jfk"),
)


@dataclass
class Sitting:
    """A bot's page in a practice meeting."""

    stay: Stay
    meeting: Meeting

    @property
    def page(self) -> MeetingPage:
        return self.stay.page

    @property
    def ear(self) -> Ear:
        return self.stay.ear

    def sent(self) -> set[tuple[int, int, int, tuple[int, ...], str]]:
        """What the meeting sent to this visitor and did not drop, in the shape of Ear.packets."""
        return {(p.ssrc, p.sequence, p.timestamp, tuple(p.csrcs), p.digest) for p in self.log() if not p.lost}

    def log(self) -> Sequence[SentPacket]:
        """Every packet of the meeting for this visitor, those that were dropped included."""
        peer = self.meeting.visitor().peer
        return list(peer.sent) if peer else []


SitIn = Callable[..., Awaitable[Sitting]]


class Site:
    """A web server with pages of a test's own making, on a secure origin (loopback)."""

    def __init__(self) -> None:
        self._bodies: dict[str, tuple[str, bytes]] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def origin(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def page(self, script: str = "", *, body: str = "", path: str = "/") -> str:
        """Serve a document; returns its address."""
        html = f"<!doctype html><meta charset=utf-8><title>t</title><body>{body}<script>{script}</script></body>"
        return self.put(path, html.encode(), "text/html")

    def put(self, path: str, data: bytes, kind: str = "application/octet-stream") -> str:
        self._bodies[path] = (kind, data)
        return self.origin + path

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        path = request.split(b" ")[1].decode().partition("?")[0]
        kind, data = self._bodies.get(path, ("text/plain", b""))
        status = "200 OK" if path in self._bodies else "404 Not Found"
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        writer.close()
