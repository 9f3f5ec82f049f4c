"""The in-page scripts in pages of a test's own making: what they hand on, and that a page cannot tell."""

import asyncio
import json
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection, serve

from harness.browser_room import CALL, Ear, OpenPage, Site, Stay
from sederunt.browser.frame_batches import TRACKS_PER_REALM, read_batch
from sederunt.browser.page_times import wall_ms
from sederunt.browser.scripts import _text
from sederunt.media.composition import Gallery
from sederunt.media.video import VideoPieces, VideoTimeline, read_video_piece
from sederunt.model.audio import CapturedFrame, Codec

pytestmark = pytest.mark.chromium


async def calling(open_page: OpenPage, site: Site, script: str, **request: Any) -> Stay:
    """A page that has run `script` after CALL was defined."""
    stay = await open_page(**request)
    await stay.page.goto(site.page(CALL))
    await stay.page.evaluate(f"async () => {{ {script} }}", deadline_s=60)
    return stay


# --- capture -----------------------------------------------------------------------------------------------------


async def test_what_the_page_packs_is_what_is_read(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page())
    frame = {
        "track": 7,
        "codec": 0,
        "keyframe": True,
        "ssrc": 4_294_967_295,
        "timestamp": 4_294_967_290,
        "sequence": 65_535,
        "csrcs": [1, 4_000_000_000],
        "level": 0.25,
        "atMs": 1_700_000_000_123.25,
    }
    packed = await page.evaluate(
        "(frames) => {" + _text("packing.js") + " return Array.from(new Uint8Array(pack(frames.map((f) =>"
        " ({ ...f, level: f.level ?? undefined, data: new Uint8Array([1, 2, 3]).buffer })), 9))); }",
        [frame, {**frame, "atMs": 1_700_000_000_143.5, "level": None, "keyframe": False, "csrcs": []}],
    )
    batch = read_batch(bytes(packed))
    first, second = batch.frames
    assert batch.sequence == 9
    assert (first.track, first.codec, first.ssrc, first.timestamp) == (7, Codec.OPUS, 4_294_967_295, 4_294_967_290)
    assert (first.sequence, first.csrcs, first.level, first.keyframe) == (65_535, (1, 4_000_000_000), 0.25, True)
    assert (second.csrcs, second.level, second.keyframe, second.payload) == ((), None, False, b"\x01\x02\x03")
    assert (first.at_ms, second.at_ms) == pytest.approx((1_700_000_000_123.25, 1_700_000_000_143.5), abs=0.001)


# The worker with a clock that goes on by 0.7 ms at each look, and a burst of 0.6 ms that came long before it is read.
BURST = """async () => {
  const sent = [], heard = {};
  let now = 5000;
  const clock = { timeOrigin: 1700000000000.4, now: () => (now += 0.7) };
  class Socket { readyState = 1; send(batch) { sent.push(Array.from(new Uint8Array(batch))); } }
  const listen = (name, hear) => { heard[name] = hear; };
  new Function("performance", "WebSocket", "addEventListener", "postMessage", SCRIPTS)(clock, Socket, listen, () => {});
  const line = {};
  heard.message({ data: { order: "start", line, batchMs: 50 } });
  line.onmessage({ data: { address: "" } });
  const frame = (n) => ({ data: new Uint8Array([n]).buffer, getMetadata: () => (
    { sequenceNumber: n, mimeType: "audio/opus", receiveTime: 1500 + 0.1 * (n >> 1) }) });
  const readable = new ReadableStream({ start(queue) { for (let n = 0; n < 12; n++) queue.enqueue(frame(n)); } });
  const options = { track: 0, kind: "audio", ship: true, forward: "none" };
  heard.rtctransform({ transformer: { readable, writable: new WritableStream(), options } });
  const packed = () => sent.reduce((sum, batch) => sum + batch[2], 0);
  while (packed() < 12) await new Promise((again) => setTimeout(again, 10));
  return sent;
}"""


async def test_frames_that_waited_are_stamped_with_the_moment_they_came(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page())
    scripts = json.dumps(_text("packing.js") + _text("tap_worker.js"))
    batches = await page.evaluate(BURST.replace("SCRIPTS", scripts), deadline_s=20)
    stamps = [frame.at_ms for batch in batches for frame in read_batch(bytes(batch)).frames]
    assert stamps == pytest.approx([1_700_000_001_500.4 + 0.1 * (n // 2) for n in range(12)], abs=0.002, rel=0)
    assert stamps == sorted(stamps)


@pytest.mark.parametrize(
    "listen",
    [
        "",
        "listen: (here) => { here.addTransceiver('audio', { direction: 'recvonly' }); }",
        "listen: (here) => { here.ontrack = (e) => { const a = new Audio(); a.srcObject = e.streams[0]; a.play(); }; }",
    ],
)
async def test_a_call_between_two_browsers_is_captured(open_page: OpenPage, site: Site, listen: str) -> None:
    stay = await calling(open_page, site, f"await call({{ {listen} }})")
    await stay.ear.until(lambda ear: len(ear.packets()) > 40)
    state = await stay.page.capture_state()
    assert state["faults"] == []


STREAMS_OF_THE_PAGE = """
window.plain = 0;
await call({ %s listen: (here) => { here.ontrack = ({ receiver }) => {
  const { readable, writable } = receiver.createEncodedStreams();
  const own = new TransformStream({ transform: (f, c) => { window.plain += 1; c.enqueue(f); } });
  readable.pipeThrough(own).pipeTo(writable);
}; } });
"""


async def test_a_page_loaded_after_the_clock_was_set_is_heard_by_the_clock_of_its_stay(
    open_page: OpenPage, site: Site
) -> None:
    """The machine's clock was set forward since the stay began: this page reads it, the stay counts on."""
    forward_ms = 600_000.0
    stay = await calling(open_page, site, "await call();", now_ms=lambda: wall_ms() - forward_ms)
    await stay.ear.until(lambda ear: len(ear.packets()) > 20)
    came = [frame.at_ms for frame in stay.ear.frames] + [signal.at_ms for signal in stay.ear.signals]
    assert max(abs(wall_ms() - forward_ms - at_ms) for at_ms in came) < forward_ms / 2


async def test_it_is_told_on_which_line_of_which_connection_a_track_begins(open_page: OpenPage, site: Site) -> None:
    stay = await calling(open_page, site, "await call(); await call({ kinds: ['video', 'audio'] })", video=True)

    def begun(ear: Ear) -> list[Mapping[str, Any]]:
        return [data for data in ear.of("capture") if data["event"] == "stream"]

    await stay.ear.until(lambda ear: len(begun(ear)) >= 3)
    ufrag = await stay.page.evaluate("() => /ice-ufrag:(\\S+)/.exec(here.remoteDescription.sdp)[1]")
    lines = [(data["media"], data["mid"], data["ufrag"] == ufrag) for data in begun(stay.ear)]
    assert sorted(lines) == [("audio", "0", False), ("audio", "0", True), ("video", "1", True)]


async def test_a_page_that_goes_no_further_without_a_microphone_gets_one_that_is_silent(
    open_page: OpenPage, site: Site
) -> None:
    ask = "() => navigator.mediaDevices.getUserMedia({ audio: true }).then((s) => s.getTracks().map((t) => t.kind))"
    page = (await open_page(watch={"microphone": "silent"})).page
    await page.goto(site.page())
    assert await page.evaluate(ask) == ["audio"]
    plain = (await open_page()).page
    await plain.goto(site.page())
    assert await plain.evaluate(f"() => ({ask})().catch((error) => error.name)") == "NotFoundError"


@pytest.mark.parametrize("flag", ["options: { here: { encodedInsertableStreams: true } },", ""])
async def test_a_page_with_encoded_streams_of_its_own_keeps_them_and_is_captured_behind_them(
    open_page: OpenPage, site: Site, flag: str
) -> None:
    stay = await calling(open_page, site, STREAMS_OF_THE_PAGE % flag)
    await stay.ear.until(lambda ear: len(ear.packets()) > 40)
    assert await stay.page.evaluate("() => window.plain") > 40


# The page's worker takes the streams; what it does with a frame is put in.
STREAMS_IN_A_WORKER = """
window.plain = 0;
const text = `onmessage = ({ data: { readable, writable } }) => {
  const writer = writable.getWriter();
  let count = 0;
  readable.pipeTo(new WritableStream({ write: (frame) => { postMessage(count += 1); %s } }));
};`;
const worker = new Worker(URL.createObjectURL(new Blob([text])));
worker.onmessage = () => (window.plain += 1);
await call({ listen: (here) => { here.ontrack = ({ receiver }) => {
  const { readable, writable } = receiver.createEncodedStreams();
  worker.postMessage({ readable, writable }, [readable, writable]);
}; } });
"""
WAYS_WITH_A_FRAME = {
    "hands it back": "writer.write(frame);",
    "keeps it": "",
    "hands it back once it has a key": "if (count > 80) writer.write(frame);",
}


@pytest.mark.parametrize("way", WAYS_WITH_A_FRAME)
async def test_a_page_whose_worker_takes_the_frames_is_captured_once(open_page: OpenPage, site: Site, way: str) -> None:
    stay = await calling(open_page, site, STREAMS_IN_A_WORKER % WAYS_WITH_A_FRAME[way])
    await stay.page.evaluate(
        "() => new Promise((on) => { setInterval(() => window.plain > 90 && on(), 20); })", deadline_s=60
    )
    before = len(stay.ear.packets())
    await stay.ear.until(lambda ear: len(ear.packets()) > before + 40)
    sequences = [frame.sequence for frame in stay.ear.audio()]
    assert len(sequences) == len(set(sequences))
    assert not stay.ear.audio(Codec.PCM16)
    assert (await stay.page.capture_state())["faults"] == []


# As Chromium 156 answers it without our scripts.
STREAMS_ASKED = """async () => {
  const seen = [JSON.stringify(Object.getOwnPropertyDescriptor(RTCRtpReceiver.prototype, "createEncodedStreams"))];
  const { receiver } = new RTCPeerConnection().addTransceiver("audio");
  const late = new RTCPeerConnection().addTransceiver("audio").receiver;
  const { readable, writable } = receiver.createEncodedStreams();
  seen.push(readable instanceof ReadableStream && writable instanceof WritableStream, receiver.transform);
  await new Promise((on) => setTimeout(on, 100));
  for (const each of [receiver, late]) {
    try { each.createEncodedStreams(); } catch (error) { seen.push(`${error}`); }
  }
  return seen;
}"""
_REFUSED = "InvalidStateError: Failed to execute 'createEncodedStreams' on 'RTCRtpReceiver': "
STREAMS_FOUND = [
    '{"writable":true,"enumerable":true,"configurable":true}',
    True,
    None,
    f"{_REFUSED}Encoded streams already created",
    f"{_REFUSED}Too late to create encoded streams",
]


async def test_a_page_finds_encoded_streams_as_the_browser_has_them(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(site.page())
    assert await page.evaluate(STREAMS_ASKED) == STREAMS_FOUND


async def test_a_page_that_comes_too_late_for_its_streams_is_told_so(open_page: OpenPage, site: Site) -> None:
    stay = await calling(open_page, site, "await call()")
    await stay.ear.until(lambda ear: len(ear.packets()) > 5)
    name = await stay.page.evaluate(
        "() => { try { here.getReceivers()[0].createEncodedStreams(); } catch (e) { return e.name; } }"
    )
    assert name == "InvalidStateError"
    before = len(stay.ear.packets())
    await stay.ear.until(lambda ear: len(ear.packets()) > before + 20)


async def test_an_element_that_would_play_silence_looks_as_if_it_played(open_page: OpenPage, site: Site) -> None:
    stay = await calling(
        open_page,
        site,
        """window.events = []; window.audio = new Audio();
        for (const name of ["loadedmetadata", "canplay", "play", "playing"])
          audio.addEventListener(name, () => events.push(name));
        const take = (e) => { window.given = e.streams[0]; audio.srcObject = given; };
        await call({ listen: (here) => { here.ontrack = take; } });
        await audio.play(); await new Promise((r) => setTimeout(r, 50));""",
    )
    seen = await stay.page.evaluate(
        "() => [audio.srcObject === given, audio.paused, audio.readyState, audio.currentTime > 0, window.events.join()]"
    )
    assert seen == [True, False, 4, True, "loadedmetadata,canplay,play,playing"]
    stats = (
        "async () => [...(await here.getStats()).values()].find((r) => r.type === 'inbound-rtp').totalSamplesReceived"
    )
    await stay.ear.until(lambda ear: len(ear.packets()) > 20)
    assert await stay.page.evaluate(stats) == 0  # nothing was decoded


async def test_the_way_of_hearing_can_be_changed_and_changed_back(open_page: OpenPage, site: Site) -> None:
    stay = await calling(
        open_page,
        site,
        "await call({ listen: (here) => { here.ontrack = (e) => {"
        " window.audio = new Audio(); audio.srcObject = e.streams[0]; audio.play(); }; } })",
    )
    await stay.ear.until(lambda ear: len(ear.audio()) > 10)
    await stay.page.use_backend("worklet")
    await stay.ear.until(lambda ear: len(ear.audio(Codec.PCM16)) >= 5)
    assert (await stay.page.capture_state())["backend"] == "worklet"
    frames = len(stay.ear.audio())
    await stay.page.use_backend("encoded")
    await stay.ear.until(lambda ear: len(ear.audio()) > frames + 20)
    assert (await stay.page.capture_state())["backend"] == "encoded"


async def test_samples_are_the_sound_that_was_sent(open_page: OpenPage, site: Site) -> None:
    stay = await calling(open_page, site, "await call()", backend="worklet")
    await stay.ear.until(lambda ear: unbroken(ear.audio(Codec.PCM16)[5:]))
    blocks = stay.ear.audio(Codec.PCM16)
    assert [block.sequence for block in blocks] == list(range(len(blocks)))
    assert pitch_hz(b"".join(block.payload for block in unbroken(blocks[5:]))) == pytest.approx(440, abs=12)


def unbroken(blocks: list[CapturedFrame]) -> list[CapturedFrame]:
    """Six blocks each of which begins where the one before ended, if there are such: a busy machine skips some."""
    for first in range(len(blocks) - 5):
        run = blocks[first : first + 6]
        if all(a.timestamp + len(a.payload) // 2 == b.timestamp for a, b in pairwise(run)):
            return run
    return []


def pitch_hz(samples: bytes) -> float:
    """The strongest pitch in PCM16 at 16 kHz. Not by counting crossings: a busy machine tears holes into samples."""
    values = np.frombuffer(samples, dtype="<i2").astype(np.float64)
    spectrum = np.abs(np.fft.rfft(values * np.hanning(len(values))))
    return float(np.argmax(spectrum) * 16_000 / len(values))


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
async def test_sound_that_was_never_a_track_is_heard_to_the_sample(open_page: OpenPage, site: Site, rate: int) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(LOOP.replace("RATE", str(rate))))
    await stay.ear.until(lambda ear: len(ear.audio(Codec.PCM16)) >= 20)
    blocks = stay.ear.audio(Codec.PCM16)[1:]  # the first begins with the silence before
    assert {block.ssrc for block in blocks} == {rate}
    samples = {block.timestamp: np.frombuffer(block.payload, dtype="<i2") for block in blocks}
    steps = [(np.diff(values) - 1) % LOOP_LENGTH for values in samples.values()]
    assert not np.concatenate(steps).any()  # each sample follows the one before
    # Also over the edges of blocks, whatever the machine did meanwhile: the loop's place is the time's.
    assert len({(int(values[0]) - at) % LOOP_LENGTH for at, values in samples.items()}) == 1


LOOP_LENGTH = 4_999
# Each sample tells its own place, from 1 on; a gap or a repetition of any length would show.
LOOP = f"""
const context = new AudioContext({{ sampleRate: RATE }});
const buffer = new AudioBuffer({{ length: {LOOP_LENGTH}, sampleRate: RATE }});
buffer.getChannelData(0).forEach((_, at, data) => (data[at] = (at + 1) / 32768));
const source = new AudioBufferSourceNode(context, {{ buffer, loop: true }});
source.connect(context.destination);
source.start();
"""


# Into a stream that an element plays, in either order; and samples written into a track by the page itself.
BY_AN_ELEMENT = {
    "fed first": "tone.connect(out); audio.srcObject = out.stream;",
    "played first": "audio.srcObject = out.stream; tone.connect(out);",
    "beside the loudspeaker": "tone.connect(out); tone.connect(context.destination); audio.srcObject = out.stream;",
    "written": """
      const generator = new MediaStreamTrackGenerator({ kind: "audio" });
      const reader = new MediaStreamTrackProcessor({ track: out.stream.getAudioTracks()[0] }).readable;
      tone.connect(out);
      reader.pipeTo(generator.writable);
      audio.srcObject = new MediaStream([generator]);""",
    "muted until it plays": "tone.connect(out); audio.muted = true; audio.srcObject = out.stream;"
    "audio.onplaying = () => (audio.muted = false);",
    "with a track that comes later": "tone.connect(out); audio.srcObject = new MediaStream();"
    "audio.srcObject.addTrack(out.stream.getAudioTracks()[0]);",
}


@pytest.mark.parametrize("way", BY_AN_ELEMENT)
async def test_sound_that_an_element_plays_is_heard_once(open_page: OpenPage, site: Site, way: str) -> None:
    stay = await open_page()
    await stay.page.goto(
        site.page(
            "const context = new AudioContext({ sampleRate: 16000 }), audio = new Audio();"
            "const tone = new OscillatorNode(context, { frequency: 600 });"
            "const out = context.createMediaStreamDestination(); tone.start();"
            f"{BY_AN_ELEMENT[way]} audio.play();"
        )
    )
    await stay.ear.until(lambda ear: len(ear.audio(Codec.PCM16)) >= 8)
    blocks = stay.ear.audio(Codec.PCM16)
    assert {block.track for block in blocks} == {0}
    assert pitch_hz(b"".join(block.payload for block in blocks[-5:])) == pytest.approx(600, abs=12)


# A file of the page's own: a tone of 600 Hz as a WAV of one second.
FILE = """
const samples = Int16Array.from({ length: 16000 }, (_, at) => 9000 * Math.sin((at * 600 * 2 * Math.PI) / 16000));
const head = new DataView(new ArrayBuffer(44));
const words = [0x52494646, 0, 0x57415645, 0x666d7420, 0, 0, 0, 0, 0, 0x64617461, 0];
words.forEach((word, at) => head.setUint32(4 * at, word));
[[4, 36 + samples.byteLength], [16, 16], [24, 16000], [28, 32000], [40, samples.byteLength]].forEach(([at, value]) =>
  head.setUint32(at, value, true));
[[20, 1], [22, 1], [32, 2], [34, 16]].forEach(([at, value]) => head.setUint16(at, value, true));
const file = URL.createObjectURL(new Blob([head, samples], { type: "audio/wav" }));
"""
BY_A_FILE = {
    "one after another": "const next = () => { const one = new Audio(file); one.onended = next; one.play(); }; next();",
    "one that begins anew": "const a = new Audio(); a.onended = () => { a.src = file; a.play(); }; a.onended();",
    "through a graph": "const c = new AudioContext({ sampleRate: 16000 }), a = new Audio(file);"
    "a.loop = true; a.play(); c.createMediaElementSource(a).connect(c.destination);",
    "muted until it plays": "const a = new Audio(file); a.loop = a.muted = true; a.onplaying = () => (a.muted = false);"
    "a.play();",
    "by itself": "document.body.innerHTML = `<audio autoplay loop src=${file}></audio>`;",
}


@pytest.mark.parametrize("way", BY_A_FILE)
async def test_a_file_that_an_element_plays_is_heard(open_page: OpenPage, site: Site, way: str) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(FILE + BY_A_FILE[way]))

    def pitches(ear: Any) -> list[float]:
        blocks = [np.frombuffer(block.payload, dtype="<i2") for block in ear.audio(Codec.PCM16)]
        return [pitch_hz(block.tobytes()) for block in blocks if np.abs(block).mean() > 2000]

    await stay.ear.until(lambda ear: len(pitches(ear)) >= 15)  # blocks of 100 ms: beyond the first second
    assert {block.track for block in stay.ear.audio(Codec.PCM16)} == {0}
    assert np.median(pitches(stay.ear)) == pytest.approx(600, abs=12)


async def test_what_a_page_sends_or_plays_mute_is_not_taken_for_the_meetings_sound(
    open_page: OpenPage, site: Site
) -> None:
    stay = await calling(
        open_page,
        site,
        "await call(); const context = new AudioContext(); const tone = new OscillatorNode(context);"
        "const out = context.createMediaStreamDestination(); tone.connect(out); tone.start();"
        "const mute = new Audio(); mute.muted = true; mute.srcObject = out.stream; await mute.play();",
    )
    await stay.ear.until(lambda ear: len(ear.audio()) > 30)
    assert not stay.ear.audio(Codec.PCM16)
    assert (await stay.page.capture_state())["graphs"] == 0


async def test_a_page_that_moves_its_sound_away_from_its_receivers_is_heard_when_it_is_found_deaf(
    open_page: OpenPage, site: Site
) -> None:
    """Sound came by a receiver first, which stays; later by a socket, and a graph of the page's."""
    stay = await calling(open_page, site, "await call()")
    await stay.ear.until(lambda ear: len(ear.audio()) > 100)
    await stay.page.use_backend("worklet")
    await stay.page.evaluate(
        "async () => { const context = new AudioContext(), tone = new OscillatorNode(context, { frequency: 700 });"
        " tone.connect(context.destination); tone.start(); }"
    )
    await stay.ear.until(lambda ear: unbroken(ear.audio(Codec.PCM16)[5:]))
    assert not of_graphs(stay.ear, stay.ear.frames), "its receiver brings sound"
    await stay.page.evaluate(QUIET, deadline_s=60)
    await stay.page.use_backend("worklet")
    await stay.ear.until(lambda ear: unbroken(of_graphs(ear, ear.frames)[5:]))
    heard = unbroken(of_graphs(stay.ear, stay.ear.frames)[5:])
    rate = heard[0].ssrc
    assert pitch_hz(b"".join(block.payload for block in heard)) * rate / 16_000 == pytest.approx(700, abs=12)
    await stay.page.evaluate("() => there.getSenders()[0].replaceTrack(window.spoke)")
    begun = len(stay.ear.audio(Codec.PCM16))
    await stay.ear.until(
        lambda ear: len(last := ear.audio(Codec.PCM16)[begun:][-20:]) == 20 and not of_graphs(ear, last)
    )


# The sender falls silent, and stays so for as long as it takes to be found deaf.
QUIET = """async () => {
  window.spoke = there.getSenders()[0].track;
  await there.getSenders()[0].replaceTrack(null);
  await new Promise((over) => setTimeout(over, 3500));
}"""


def of_graphs(ear: Ear, frames: list[CapturedFrame]) -> list[CapturedFrame]:
    """Those of these frames that came by a graph of the page."""
    tracks = {data["track"] for data in ear.of("capture") if data["event"] == "attached" and data["kind"] == "graph"}
    return [frame for frame in frames if frame.track in tracks]


async def test_what_the_ear_holds_is_handed_over_before_the_page_is_closed(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(batch_ms=5_000)
    await stay.page.goto(site.page(LOOP.replace("RATE", "48000")))
    await stay.ear.until(lambda ear: any(data["kind"] == "graph" for data in ear.of("capture")))
    async with asyncio.timeout(60):
        while not stay.ear.audio(Codec.PCM16):  # it is attached before it is loaded and the device renders
            await stay.page.flush(deadline_s=30)
    length_s = len(stay.ear.audio(Codec.PCM16)[0].payload) / 2 / 48_000
    assert 0 < length_s < 4.9  # not the whole block of 5 s that would have come by itself


async def test_a_page_that_begins_another_context_is_heard_on(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(LOOP.replace("RATE", "48000")))
    await stay.ear.until(lambda ear: ear.audio(Codec.PCM16))
    await stay.page.evaluate(
        "async () => { await context.close(); const next = new AudioContext({ sampleRate: 24000 });"
        " const tone = new OscillatorNode(next); tone.connect(next.destination); tone.start(); }"
    )
    await stay.ear.until(lambda ear: {frame.ssrc for frame in ear.audio(Codec.PCM16)} == {48_000, 24_000})
    assert (await stay.page.capture_state())["backend"] == "worklet"


async def test_video_frames_are_dropped_where_a_site_must_not_notice(open_page: OpenPage, site: Site) -> None:
    stay = await calling(open_page, site, "await call({ kinds: ['audio', 'video'] })", watch={"video": "drop"})
    await stay.ear.until(lambda ear: len(ear.packets()) > 60)
    video = [t for t in (await stay.page.capture_state())["tracks"] if t["kind"] == "video"]
    assert sum(track["packets"] for track in video) > 0
    seconds = await stay.page.evaluate("() => performance.now() / 1000")
    assert sum(track["plis"] for track in video) <= 3 + seconds / 2  # the browser asks again every three seconds or so
    assert {frame.codec for frame in stay.ear.frames} == {Codec.OPUS}


async def test_sound_in_a_codec_that_is_not_kept_is_heard_as_samples(open_page: OpenPage, site: Site) -> None:
    prefer = """(_, there) => there.getTransceivers()[0].setCodecPreferences(
        RTCRtpSender.getCapabilities("audio").codecs.filter((codec) => codec.mimeType === "audio/PCMU"))"""
    stay = await calling(open_page, site, f"await call({{ listen: {prefer} }})")
    await stay.ear.until(lambda ear: unbroken(ear.audio(Codec.PCM16)[5:]))
    assert not stay.ear.audio()
    blocks = unbroken(stay.ear.audio(Codec.PCM16)[5:])
    assert pitch_hz(b"".join(block.payload for block in blocks)) == pytest.approx(440, abs=12)


async def test_av1_of_a_real_sender_is_kept_and_can_be_decoded(open_page: OpenPage, site: Site) -> None:
    prefer = """(_, there) => there.getTransceivers()[0].setCodecPreferences(
        RTCRtpSender.getCapabilities("video").codecs.filter((codec) => codec.mimeType === "video/AV1"))"""
    began_ms = time.time() * 1000
    stay = await calling(open_page, site, f"await call({{ kinds: ['video'], listen: {prefer} }})", video=True)
    await stay.ear.until(lambda ear: sum(frame.codec is Codec.AV1 for frame in ear.frames) > 40)
    timeline = VideoTimeline(began_ms - 60_000)
    pictures = timeline.add(stay.ear.frames) + timeline.flush()
    assert (timeline.facts()["packets"], timeline.facts()["other"]) == (len(stay.ear.frames), 0)
    kept = read_video_piece(VideoPieces().write(pictures))
    assert [each.payload for each in kept] == [each.payload for each in pictures]
    gallery = Gallery()
    for each in kept:
        gallery.show(each)
    assert gallery.version(kept[0].source) == len(kept), "each of them can be decoded"


async def test_calls_in_frames_are_captured_as_tracks_of_their_own(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    inner = site.page(CALL + "call();", path="/inner")
    await stay.page.goto(site.page(CALL + "call();", body=f"<iframe src='{inner}'></iframe>"))
    await stay.ear.until(lambda ear: {frame.track for frame in ear.audio()} >= {1, TRACKS_PER_REALM + 1})


async def test_a_foreign_page_may_not_use_the_line(open_page: OpenPage, site: Site) -> None:
    stay = await calling(open_page, site, "await call()")
    await stay.ear.until(lambda ear: ear.audio())
    line = stay.page._line
    assert not line.may_knock("https://evil.example")
    assert line.may_knock(site.origin)
    assert line.may_knock("https://meet.google.com")


# --- what a page can see -----------------------------------------------------------------------------------------

PROBE = """() => {
  const shape = /^function [\\w ]*\\(\\) \\{\\s*\\[native code\\]\\s*\\}$/;
  const native = (f) => shape.test(Function.prototype.toString.call(f));
  const getter = (o, n, k = "get") => Object.getOwnPropertyDescriptor(o.prototype, n)[k];
  const pc = new RTCPeerConnection();
  class Own extends RTCPeerConnection {}
  return {
    natives: [RTCPeerConnection, RTCPeerConnection.prototype.addTrack, RTCPeerConnection.prototype.addTransceiver,
      RTCRtpReceiver.prototype.createEncodedStreams, getter(RTCRtpReceiver, "transform"),
      getter(RTCRtpReceiver, "transform", "set"), getter(HTMLMediaElement, "srcObject"),
      HTMLMediaElement.prototype.play, AudioNode.prototype.connect, AudioContext, WebSocket, fetch,
      Function.prototype.toString,
    ].map(native),
    names: [RTCPeerConnection.name, RTCPeerConnection.prototype.addTrack.name, fetch.name],
    constructor: pc.constructor === RTCPeerConnection && pc instanceof RTCPeerConnection,
    statics: typeof RTCPeerConnection.generateCertificate,
    own: new Own() instanceof Own && new Own() instanceof RTCPeerConnection,
    transform: pc.addTransceiver("audio").receiver.transform,
    globals: Object.keys(window).filter((key) => /sederunt/i.test(key)),
    illegal: (() => { try { RTCPeerConnection(); } catch (e) { return e.constructor === TypeError; } })(),
  };
}"""


async def test_a_page_cannot_tell_the_wrappers_from_the_natives(open_page: OpenPage, site: Site) -> None:
    page = (await open_page(watch={"dataChannels": ["x"], "fetches": ["x"], "webSockets": ["x"]})).page
    await page.goto(site.page())
    seen = await page.evaluate(PROBE)
    assert all(seen["natives"]), seen["natives"]
    assert seen["names"] == ["RTCPeerConnection", "addTrack", "fetch"]
    assert (seen["constructor"], seen["statics"], seen["own"], seen["illegal"]) == (True, "function", True, True)
    assert (seen["transform"], seen["globals"]) == (None, [])


async def test_what_the_page_set_as_its_transform_is_what_it_gets_back(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    await stay.page.goto(site.page(CALL))
    same = await stay.page.evaluate(
        "() => { const pc = new RTCPeerConnection(); const { receiver } = pc.addTransceiver('audio');"
        " const worker = new Worker(URL.createObjectURL(new Blob([''])));"
        " const own = receiver.transform = new RTCRtpScriptTransform(worker, {});"
        " const kept = receiver.transform === own; receiver.transform = null; return [kept, receiver.transform]; }"
    )
    assert same == [True, None]


async def test_animations_end_at_once_and_still_say_so(open_page: OpenPage, site: Site) -> None:
    page = (await open_page()).page
    await page.goto(
        site.page(
            "window.ended = []; d.addEventListener('animationend', () => ended.push('a'));"
            "d.addEventListener('transitionend', () => ended.push('t'));"
            "requestAnimationFrame(() => requestAnimationFrame(() => d.style.opacity = 0.5));",
            body="<style>@keyframes k { to { left: 9px } } #d { animation: k 60s infinite; transition: opacity 60s }"
            "</style><div id=d>text</div><video></video>",
        )
    )
    await page.evaluate(
        "() => new Promise((r) => { const look = () => (ended.length >= 2 ? r() : setTimeout(look, 20)); look(); })"
    )
    assert sorted(await page.evaluate("() => ended")) == ["a", "t"]
    assert await page.evaluate("() => document.querySelector('video').checkVisibility({ visibilityProperty: true })")


async def test_under_a_strict_policy_with_trusted_types_nothing_breaks(open_page: OpenPage, site: Site) -> None:
    stay = await open_page()
    policy = "default-src 'none'; script-src 'unsafe-inline'; require-trusted-types-for 'script'"
    await stay.page.goto(
        site.page(CALL + "call();", body=f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    )
    await stay.ear.until(lambda ear: len(ear.packets()) > 20)


# --- what the site says ------------------------------------------------------------------------------------------


async def test_named_data_channels_are_heard_whoever_opened_them(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"dataChannels": ["theirs", "ours"]})
    await stay.page.goto(site.page(CALL))
    await stay.page.evaluate(
        """() => call({ listen: (here, there) => {
          const say = (channel, data) => { channel.onopen = () => data.forEach((d) => channel.send(d)); };
          say(there.createDataChannel("theirs"), ["text", new Uint8Array([1, 0, 255])]);
          say(there.createDataChannel("secret"), ["hush"]);
          here.createDataChannel("ours");
          there.ondatachannel = ({ channel }) => channel.send(new Uint8Array([7]));
        } })"""
    )
    await stay.ear.until(lambda ear: len(ear.of("datachannel")) >= 3)
    said = [(data["label"], data["payload"]) for data in stay.ear.of("datachannel")]
    assert sorted(said, key=str) == sorted(
        [("theirs", "text"), ("theirs", b"\x01\x00\xff"), ("ours", b"\x07")], key=str
    )


async def test_bodies_of_named_requests_are_heard_and_the_page_gets_them_too(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"fetches": ["/roster"]})
    body = json.dumps({"people": ["Zoë"]}).encode()
    site.put("/roster/1", body, "application/json")
    site.put("/other", b"x")
    await stay.page.goto(site.page())
    got = await stay.page.evaluate(
        """async () => {
          const xhr = (type) => new Promise((done) => { const x = new XMLHttpRequest();
            x.responseType = type; x.onload = () => done(x.response); x.open("GET", "/roster/1"); x.send(); });
          await fetch("/other");
          const fetched = await (await fetch(new Request("/roster/1?q=1"))).json();
          return [fetched, await xhr("json"), await xhr("")];
        }"""
    )
    assert got == [{"people": ["Zoë"]}, {"people": ["Zoë"]}, body.decode()]
    await stay.ear.until(lambda ear: len(ear.of("fetch")) >= 3)
    heard = stay.ear.of("fetch")
    assert all(json.loads(data["payload"]) == {"people": ["Zoë"]} for data in heard)
    assert all((data["status"], data["method"]) == (200, "GET") and "/roster/1" in data["url"] for data in heard)


async def test_what_a_named_request_sends_is_told_with_its_answer(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"fetches": ["/join"]})
    site.put("/join", b"{}", "application/json")
    await stay.page.goto(site.page())
    await stay.page.evaluate(
        """async () => {
          await fetch("/join", { method: "POST", body: "by fetch" });
          await fetch("/join", { method: "POST", body: new Uint8Array(2) });
          await new Promise((done) => { const x = new XMLHttpRequest();
            x.onload = done; x.open("POST", "/join"); x.send("y".repeat(30000)); });
        }"""
    )
    await stay.ear.until(lambda ear: len(ear.of("fetch")) >= 3)
    assert [(data["method"], data["request"]) for data in stay.ear.of("fetch")] == [
        ("POST", "by fetch"),
        ("POST", ""),
        ("POST", "y" * 20_000),
    ]


async def test_ids_of_the_call_are_told_each_time_they_change(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"call": ["call.id", "call.none.id", "location.href"], "roster": {"row": "li"}})
    await stay.page.goto(site.page("window.call = { id: 'call-1' };"))
    await stay.ear.until(lambda ear: len(ear.of("call")) >= 2)
    await stay.page.evaluate("() => { window.call.id = 'call-2'; document.body.append('x'); }")
    await stay.ear.until(lambda ear: len(ear.of("call")) >= 3)
    told = [data["id"] for data in stay.ear.of("call")]
    assert (told[0], told[2]) == ("call-1", "call-2")
    assert told[1].startswith("http://")


async def test_worker_messages_that_hold_a_named_word_are_heard(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"workers": ['"evt":7937']})
    await stay.page.goto(
        site.page(
            "const say = `postMessage({type: 'message', data: '{\"evt\":7937}'}); postMessage({data: '{\"evt\":1}'});`;"
            "window.own = new Worker(URL.createObjectURL(new Blob([say])));"
        )
    )
    await stay.ear.until(lambda ear: ear.of("worker"))
    assert [data["payload"] for data in stay.ear.of("worker")] == ['{"evt":7937}']


async def test_named_sockets_of_the_page_are_heard(open_page: OpenPage, site: Site) -> None:
    async def greet(connection: ServerConnection) -> None:
        await connection.send("3:::{}")
        await connection.send(b"\x00\x01")
        await connection.wait_closed()

    async with serve(greet, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        stay = await open_page(watch={"webSockets": ["/trouter"]})
        await stay.page.goto(site.page())
        await stay.page.evaluate(
            "(host) => { window.kept = ['/trouter/1', '/other'].map((path) => new WebSocket(host + path)); }",
            f"ws://127.0.0.1:{port}",
        )
        await stay.ear.until(lambda ear: len(ear.of("websocket")) >= 2)
        assert [data["payload"] for data in stay.ear.of("websocket")] == ["3:::{}", b"\x00\x01"]
        assert all(data["url"].endswith("/trouter/1") for data in stay.ear.of("websocket"))
        await stay.page.close()


ROSTER: dict[str, dict[str, Any]] = {
    "roster": {
        "row": "li[data-id]",
        "id": "data-id",
        "name": [{"attribute": "aria-label", "strip": ["(You)", "(Guest)"]}, ".name"],
        "avatar": "img",
        "self": "[data-self]",
    },
    "speaking": {"row": "li[data-id]", "id": "data-id", "classes": ["loud"], "attributes": {"data-speaks": "yes"}},
    "chat": {
        "row": "p[data-message]",
        "id": "data-message",
        "text": ".text",
        "sender": [".who", {"closest": "section", "selector": ".group"}],
    },
}


async def test_the_roster_is_told_whole_each_time_it_changed(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch=ROSTER)
    await stay.page.goto(
        site.page(
            body="<ul><li data-id=a aria-label='Ada (You) (Guest)' data-self><img src='/a.png'></li>"
            "<li data-id=b><span class=name>Bob</span></li></ul>"
        )
    )
    await stay.ear.until(lambda ear: ear.of("roster"))
    assert stay.ear.of("roster")[-1]["people"] == [
        {"key": "a", "name": "Ada", "avatar": "/a.png", "is_self": True},
        {"key": "b", "name": "Bob", "avatar": None, "is_self": False},
    ]
    await stay.page.evaluate("() => document.querySelector('[data-id=b]').remove()")
    await stay.ear.until(lambda ear: [p["key"] for p in ear.of("roster")[-1]["people"]] == ["a"])


async def test_a_list_says_whether_it_is_whole(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch={"roster": {**ROSTER["roster"], "whole": "ul"}})
    await stay.page.goto(site.page(body="<main><li data-id=a aria-label=Ada></li></main>"))
    await stay.ear.until(lambda ear: [told["whole"] for told in ear.of("roster")] == [False])
    await stay.page.evaluate("() => document.body.append(document.createElement('ul'))")
    await stay.ear.until(lambda ear: [told["whole"] for told in ear.of("roster")] == [False, True])


async def test_speaking_marks_are_told_as_they_come_and_go(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch=ROSTER)
    await stay.page.goto(site.page(body="<ul><li id=a data-id=a></li><li id=b data-id=b></li></ul>"))
    await stay.page.evaluate("() => a.classList.add('loud')")
    await stay.ear.until(lambda ear: ear.of("speaking") and ear.of("speaking")[-1]["keys"] == ["a"])
    await stay.page.evaluate("() => b.setAttribute('data-speaks', 'yes')")
    await stay.ear.until(lambda ear: ear.of("speaking")[-1]["keys"] == ["a", "b"])
    await stay.page.evaluate("() => a.classList.remove('loud')")
    await stay.ear.until(lambda ear: ear.of("speaking")[-1]["keys"] == ["b"])


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_lists_in_shadow_roots_are_read_and_watched(open_page: OpenPage, site: Site, mode: str) -> None:
    stay = await open_page(watch=ROSTER)
    script = f"""
      const outer = document.querySelector("main").attachShadow({{ mode: "{mode}" }});
      outer.innerHTML = "<aside></aside>";
      window.inner = outer.querySelector("aside").attachShadow({{ mode: "{mode}" }});
      inner.innerHTML = "<ul><li data-id=a aria-label=Ada></li></ul><section><b class=group>Ada</b></section>";
    """
    await stay.page.goto(site.page(script, body="<main></main>"))
    await stay.ear.until(lambda ear: ear.of("roster") and ear.of("roster")[-1]["people"][0]["name"] == "Ada")
    await stay.page.evaluate("() => inner.querySelector('li').classList.add('loud')")
    await stay.ear.until(lambda ear: ear.of("speaking") and ear.of("speaking")[-1]["keys"] == ["a"])
    await stay.page.evaluate(
        "() => inner.querySelector('section').insertAdjacentHTML('beforeend',"
        " '<p data-message=1><span class=text>hello</span></p>')"
    )
    await stay.ear.until(lambda ear: [(m["sender"], m["text"]) for m in ear.of("chat")] == [("Ada", "hello")])
    await stay.page.evaluate("() => document.querySelector('main').remove()")  # what no page shows is no list
    await stay.ear.until(lambda ear: ear.of("speaking")[-1]["keys"] == [])


async def test_each_chat_message_is_told_once(open_page: OpenPage, site: Site) -> None:
    stay = await open_page(watch=ROSTER)
    row = "<p data-message={0}><span class=text>hello {0}</span></p>"
    await stay.page.goto(site.page(body=f"<section id=s><b class=group>Ada</b>{row.format(1)}</section>"))
    await stay.ear.until(lambda ear: len(ear.of("chat")) == 1)
    await stay.page.evaluate(
        "() => { const p = s.lastElementChild.cloneNode(true); p.dataset.message = 2; s.append(p); s.append(p); }"
    )
    await stay.ear.until(lambda ear: len(ear.of("chat")) >= 2)
    assert [(m["id"], m["sender"], m["text"]) for m in stay.ear.of("chat")] == [
        ("1", "Ada", "hello 1"),
        ("2", "Ada", "hello 1"),
    ]
