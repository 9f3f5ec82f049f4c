"""People at Janus' own pages: one real browser, a context for each, and a microphone and a camera that a test moves."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from harness.janus import HOST
from sederunt.bench.hostile_files import wav_of
from sederunt.browser.launch import PROGRAMS
from sederunt.practice import clips

# Before the page's own scripts: the devices. The camera is one colour with a bar that moves over it, the microphone is
# in a quiet room: where there is no sound at all, a browser sends nothing, which nobody's microphone does.
DEVICES = """
(() => {
  const sound = new AudioContext({ sampleRate: 48000 });
  const microphone = sound.createMediaStreamDestination();
  const room = new AudioBuffer({ length: 48000, sampleRate: 48000 });
  room.getChannelData(0).forEach((_, at, noise) => { noise[at] = (Math.random() - 0.5) * 6e-4; });
  const quiet = new AudioBufferSourceNode(sound, { buffer: room, loop: true });
  quiet.connect(microphone);
  quiet.start();
  const [WIDTH, HEIGHT] = config.size;
  function camera() {
    const canvas = new OffscreenCanvas(WIDTH, HEIGHT), paper = canvas.getContext("2d");
    const track = new MediaStreamTrackGenerator({ kind: "video" }), writer = track.writable.getWriter();
    const wanted = { width: WIDTH, height: HEIGHT, frameRate: config.rate };
    track.getSettings = () => wanted;
    let at = 0;
    setInterval(() => {
      paper.fillStyle = config.colour;
      paper.fillRect(0, 0, WIDTH, HEIGHT);
      paper.fillStyle = "white";
      paper.fillRect((at += 7) % WIDTH, 0, 8, HEIGHT);
      writer.write(new VideoFrame(canvas, { timestamp: Math.round(performance.now() * 1000) })).catch(() => undefined);
    }, 1000 / config.rate);
    return track;
  }
  MediaDevices.prototype.getUserMedia = async ({ audio, video }) => {
    await sound.resume();
    return new MediaStream([...(audio ? microphone.stream.clone().getTracks() : []), ...(video ? [camera()] : [])]);
  };
  window.say = async (file) => {
    const bytes = Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0));
    const voice = new AudioBufferSourceNode(sound, { buffer: await sound.decodeAudioData(bytes.buffer) });
    voice.connect(microphone);
    const over = new Promise((done) => voice.addEventListener("ended", done));
    voice.start();
    const began = Date.now();
    await over;
    return [began, Date.now()];
  };
})();
"""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A clip that was said."""

    who: str
    clip: str
    began_ms: int  # Unix milliseconds
    late_ms: float  # by how much its browser, on a busy machine, may have played it later than that

    @property
    def text(self) -> str:
        return clips.catalogue()[self.clip].text


@dataclass
class Person:
    """Somebody at a page of Janus."""

    name: str
    page: Page
    said: list[Said] = field(default_factory=list)

    async def say(self, clip: str) -> None:
        """Say a clip of the practice sites' to its end."""
        began_ms, ended_ms = await self.page.evaluate(
            "say", base64.b64encode(wav_of(clips.load(clip).samples, clips.RATE)).decode()
        )
        late_ms = max(0.0, ended_ms - began_ms - 1000 * clips.load(clip).duration_s)
        self.said.append(Said(who=self.name, clip=clip, began_ms=began_ms, late_ms=late_ms))

    async def sees(self, people: int) -> None:
        """Wait until so many others are shown."""
        await self.page.wait_for_function(f"document.querySelectorAll('[id^=videoremote] video').length >= {people}")

    async def sent(self) -> list[dict[str, Any]]:
        """What the browser says of each stream that it sends."""
        found: list[dict[str, Any]] = await self.page.evaluate(_SENT)
        return found

    async def enter(self) -> None:
        """Go in by the page's own buttons."""
        await self.page.click("#start")
        await self.page.fill("#username", self.name)
        await self.page.click("#register")

    async def sound_alone(self) -> None:
        """Send sound and no picture, which the page itself cannot: by its own library."""
        await self.page.evaluate(_PUBLISH, [[{"type": "audio", "capture": True, "recv": False}], {"audio": True}])

    async def camera_on(self) -> None:
        """Add a picture to what is sent: everybody's connection is negotiated anew."""
        await self.page.evaluate(
            _PUBLISH, [[{"type": "video", "capture": True, "recv": False, "add": True}], {"video": True}]
        )

    async def leave(self) -> None:
        """Leave by the page's own button."""
        await self.page.click("#start")


_PUBLISH = """([tracks, what]) => new Promise((done, failed) => sfutest.createOffer({
  tracks, error: failed,
  success: (jsep) => { sfutest.send({ message: { request: "configure", ...what }, jsep, success: done }); },
}))"""

_SENT = """async () => {
  const rows = [...(await sfutest.webrtcStuff.pc.getStats()).values()];
  return rows.filter((row) => row.type === "outbound-rtp");
}"""


@dataclass(frozen=True, kw_only=True)
class People:
    """Brings people to the pages."""

    browser: Browser

    async def bring(
        self,
        name: str,
        page: str,
        *,
        colour: str = "teal",
        size: tuple[int, int] = (320, 240),
        rate: int = 8,
    ) -> Person:
        """Open a page, such as "audiobridgetest.html?room=1234", for somebody."""
        context = await self.browser.new_context()
        context.set_default_timeout(120_000)  # of a busy machine
        opened = await context.new_page()
        config = f"const config = {{ size: {list(size)}, rate: {rate}, colour: {colour!r} }};"
        await opened.add_init_script(f"{{ {config} {DEVICES} }}")
        await opened.goto(f"https://{HOST}/{page}")
        return Person(name, opened)


@asynccontextmanager
async def people(host_rules: str) -> AsyncIterator[People]:
    """Start their browser; ended with the block."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=next(found for found in PROGRAMS["shell"] if Path(found).exists()),
            args=[
                "--no-sandbox",
                "--ignore-certificate-errors",
                f"--host-resolver-rules={host_rules}",
                "--autoplay-policy=no-user-gesture-required",
                "--disable-features=WebRtcHideLocalIpsWithMdns,LocalNetworkAccessChecks",
                "--disable-background-timer-throttling",
                "--disable-renderer-backgrounding",
            ],
        )
        try:
            yield People(browser=browser)
        finally:
            await browser.close()
