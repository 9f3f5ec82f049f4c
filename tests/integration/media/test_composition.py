"""Pictures and sound in one WebM: the right shades at the right places and times."""

import json
import subprocess
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.video.codeccontext import VideoCodecContext

from harness.encoders import ENCODERS, open_encoder
from sederunt.media import opus
from sederunt.media.assembly import assemble
from sederunt.media.composition import CompositionFacts, VideoLayout, compose
from sederunt.media.layout import Canvas, Spoke
from sederunt.media.pieces import write_piece
from sederunt.media.probe import probe
from sederunt.media.video import VideoFrame, VideoPieces
from sederunt.model.audio import Codec, Packet

DURATION_S = 12.0
CANVAS = Canvas(width=640, height=360, fps=10)
SHADES = {"a": 60, "b": 120, "screen": 200}
OPTIONS = {
    Codec.VP8: {"lag-in-frames": "0"},
    Codec.H264: {"tune": "zerolatency", "preset": "ultrafast"},
    Codec.AV1: {"preset": "11", "svtav1-params": "pred-struct=1"},
}


def _pictures(source: str, start: float, end: float, codec: Codec = Codec.VP8, size: int = 160) -> list[VideoFrame]:
    context = av.CodecContext.create(ENCODERS[codec], "w")
    assert isinstance(context, VideoCodecContext)
    width, height = size, size * 9 // 16
    context.width, context.height, context.pix_fmt = width, height, "yuv420p"
    context.time_base, context.framerate = Fraction(1, 10), Fraction(10)
    context.options = OPTIONS[codec]
    open_encoder(context)
    planes = np.full((height * 3 // 2, width), 128, dtype=np.uint8)
    planes[:height] = SHADES[source]
    packets: list[av.Packet[Any]] = []
    for n in range(round((end - start) * 10)):
        picture = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        picture.pts, picture.time_base = n, Fraction(1, 10)
        packets += context.encode(picture)
    return [
        VideoFrame(
            source=source,
            start=start + n / 10,
            codec=codec,
            keyframe=packet.is_keyframe,
            payload=bytes(packet).removeprefix(b"\x12\0"),  # RTP carries no delimiters of AV1's units of time
        )
        for n, packet in enumerate([*packets, *context.encode(None)])
    ]


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    encoder = opus.OpusEncoder(opus.RATE, 32_000)
    times = np.arange(round(DURATION_S * opus.RATE)) / opus.RATE
    packets = [
        Packet(source="1", start=n * 0.02, duration=0.02, payload=payload)
        for n, payload in enumerate(encoder.encode((9_000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)))
    ]
    mixed = tmp_path / "mixed.webm"
    assemble([write_piece(packets)], mixed=mixed, tracks=tmp_path / "tracks", duration_s=DURATION_S)
    return mixed


Run = Callable[..., CompositionFacts]


@pytest.fixture
def run(audio: Path, tmp_path: Path) -> Run:
    def composed(frames: list[VideoFrame], **layout: object) -> CompositionFacts:
        writer = VideoPieces()
        frames.sort(key=lambda frame: frame.start)
        cut = [[f for f in frames if at <= f.start < at + 2] for at in range(0, int(DURATION_S), 2)]
        pieces = [writer.write(part) for part in cut if part]
        facts = VideoLayout(duration_s=DURATION_S, canvas=CANVAS, **layout)  # type: ignore[arg-type]
        return compose(reversed(pieces), audio=audio, target=tmp_path / "out.webm", layout=facts)

    return composed


def _shown(path: Path) -> dict[float, npt.NDArray[np.uint8]]:
    with av.open(str(path)) as container:
        return {float(f.time or 0): f.to_ndarray(format="gray").astype(np.uint8) for f in container.decode(video=0)}


def _sound(path: Path) -> list[tuple[int | None, bytes]]:
    with av.open(str(path)) as container:
        return [(packet.pts, bytes(packet)) for packet in container.demux(audio=0) if packet.size]


def _at(shown: dict[float, npt.NDArray[np.uint8]], at_s: float) -> npt.NDArray[np.uint8]:
    return shown[max(time for time in shown if time <= at_s + 1e-6)]


def _gray(shade: int) -> float:
    """A luma value of television range as the full-range gray that the decoder gives."""
    return (shade - 16) * 255 / 219


def test_the_speaker_is_large_the_other_beside_and_a_shared_screen_before_both(run: Run, tmp_path: Path) -> None:
    frames = [*_pictures("a", 1, 12), *_pictures("b", 2, 12, Codec.H264), *_pictures("screen", 8, 12, size=320)]
    facts = run(frames, spoken=[Spoke(source="b", start=5, end=7)], screens=["screen"])
    assert facts.composed
    assert facts.sources == ("a", "b", "screen")
    shown = _shown(tmp_path / "out.webm")
    left, right = (180, 200), (180, 560)
    for at_s, large, small in ((4.5, "a", "b"), (6.0, "b", "a"), (7.5, "b", "a")):
        picture = _at(shown, at_s)
        assert picture[left] == pytest.approx(_gray(SHADES[large]), abs=8), at_s
        assert picture[right] == pytest.approx(_gray(SHADES[small]), abs=8), at_s
    assert _at(shown, 0.5)[left] < 8
    assert _at(shown, 1.6)[right] == pytest.approx(_gray(SHADES["a"]), abs=8)  # alone it fills the canvas
    assert _at(shown, 10.0)[left] == pytest.approx(_gray(SHADES["screen"]), abs=8)


def test_sound_is_taken_over_packet_by_packet_beside_the_picture(run: Run, audio: Path, tmp_path: Path) -> None:
    run([*_pictures("a", 1, 12), *_pictures("b", 2, 12)])
    before, after = _sound(audio), _sound(tmp_path / "out.webm")
    assert len(before) == DURATION_S * 50
    assert after == before
    facts = probe(tmp_path / "out.webm")
    assert (facts.container, facts.has_audio, facts.has_video, facts.codec) == ("webm", True, True, "opus")
    assert facts.duration_s == pytest.approx(DURATION_S, abs=1.1)
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_streams", str(tmp_path / "out.webm")],
        capture_output=True,
        check=True,
    )
    assert not shown.stderr
    streams = {s["codec_type"]: s for s in json.loads(shown.stdout)["streams"]}
    assert (streams["video"]["codec_name"], streams["video"]["width"], streams["video"]["height"]) == ("vp8", 640, 360)


def test_a_still_picture_costs_a_frame_a_second(run: Run) -> None:
    facts = run([*_pictures("a", 0, 2), *_pictures("b", 0, 2)])
    assert facts.frames_written < 40


@pytest.mark.parametrize("codec", [Codec.VP8, Codec.AV1])
def test_the_only_source_is_taken_over_as_it_is(run: Run, tmp_path: Path, codec: Codec) -> None:
    frames = _pictures("a", 1, 12, codec)
    facts = run(frames)
    assert not facts.composed
    assert facts.frames_written == len(frames)
    with av.open(str(tmp_path / "out.webm")) as container:
        found = [(float(p.pts * p.time_base), bytes(p)) for p in container.demux(video=0) if p.pts is not None]
    assert [payload for _, payload in found] == [frame.payload for frame in frames]
    assert [at for at, _ in found] == pytest.approx([frame.start for frame in frames], abs=0.001)


def test_av1_is_shown_beside_others(run: Run, tmp_path: Path) -> None:
    assert run([*_pictures("a", 0, 12), *_pictures("b", 0, 12, Codec.AV1)]).composed
    shown = _at(_shown(tmp_path / "out.webm"), 6)
    assert shown[180, 200] == pytest.approx(_gray(SHADES["a"]), abs=8)
    assert shown[180, 560] == pytest.approx(_gray(SHADES["b"]), abs=8)


def test_h264_alone_is_encoded_anew_because_webm_may_not_hold_it(run: Run, tmp_path: Path) -> None:
    assert run(_pictures("a", 0, 12, Codec.H264)).composed
    assert _at(_shown(tmp_path / "out.webm"), 6)[180, 320] == pytest.approx(_gray(SHADES["a"]), abs=8)


def test_without_a_picture_the_sound_remains(run: Run, tmp_path: Path) -> None:
    facts = run([])
    assert (facts.composed, facts.frames_written) == (False, 0)
    assert not probe(tmp_path / "out.webm").has_video


def test_damaged_pictures_cost_nothing_but_themselves(run: Run) -> None:
    frames = [*_pictures("a", 0, 12), *_pictures("b", 0, 12)]
    broken = [
        VideoFrame(source=f.source, start=f.start, codec=f.codec, keyframe=f.keyframe, payload=b"\xff" * 20)
        if 3 < f.start < 3.5
        else f
        for f in frames
    ]
    assert run(broken).frames_written > 10


def test_no_thread_of_the_composition_stays(run: Run) -> None:
    run([*_pictures("a", 0, 2), *_pictures("b", 0, 2)])
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("compose")] == []
