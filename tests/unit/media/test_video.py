"""Encoded pictures keep their place, and pieces keep the pictures."""

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import av
import numpy as np
import pytest
from av.video.codeccontext import VideoCodecContext

from harness.encoders import ENCODERS, open_encoder
from sederunt.errors import BrokenMedia
from sederunt.media.video import VIDEO_CODECS, VideoFrame, VideoPieces, VideoTimeline, read_video_piece
from sederunt.model.audio import CapturedFrame, Codec

STARTED_MS = 1_790_000_000_000.0
OPTIONS = {
    Codec.VP8: {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"},
    Codec.VP9: {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"},
    Codec.H264: {"preset": "ultrafast", "tune": "zerolatency"},
    Codec.AV1: {"preset": "11", "svtav1-params": "pred-struct=1"},
}


@cache
def encoded(codec: Codec, count: int = 60, width: int = 320, height: int = 180) -> tuple[tuple[bytes, bool], ...]:
    """Pictures that grow brighter, a key frame every thirty."""
    context = av.CodecContext.create(ENCODERS[codec], "w")
    assert isinstance(context, VideoCodecContext)
    context.width, context.height, context.pix_fmt = width, height, "yuv420p"
    context.time_base, context.framerate, context.gop_size = Fraction(1, 30), Fraction(30), 30
    context.options = OPTIONS[codec]
    open_encoder(context)
    made = []
    for n in range(count):
        planes = np.full((height * 3 // 2, width), 128, dtype=np.uint8)
        planes[:height] = 20 + n * 3
        picture = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        picture.pts, picture.time_base = n, Fraction(1, 30)
        made += [(bytes(packet), packet.is_keyframe) for packet in context.encode(picture)]
    made += [(bytes(packet), packet.is_keyframe) for packet in context.encode(None)]
    # RTP carries no delimiters of AV1's units of time.
    return tuple((payload.removeprefix(b"\x12\0"), is_key) for payload, is_key in made)


def test_no_encoder_makes_the_tests_themselves_real_time() -> None:
    policy = os.sched_getscheduler(0)
    for codec in ENCODERS:
        encoded.__wrapped__(codec, count=1)
        assert os.sched_getscheduler(0) == policy


def captured(codec: Codec, **changes: object) -> list[CapturedFrame]:
    frames = []
    for n, (payload, keyframe) in enumerate(encoded(codec)):
        facts: dict[str, object] = {
            "track": 3,
            "codec": codec,
            "ssrc": 9,
            "sequence": n,
            "timestamp": (4_294_900_000 + n * 3_000) & 0xFFFFFFFF,
            "csrcs": (),
            "level": None,
            "at_ms": STARTED_MS + 1_000 + n * 100 / 3 + (80 if keyframe else 0),
            "payload": payload,
            "keyframe": keyframe,
        }
        frames.append(CapturedFrame(**(facts | changes)))  # type: ignore[arg-type]
    return frames


def _placed(frames: Sequence[CapturedFrame]) -> list[VideoFrame]:
    timeline = VideoTimeline(STARTED_MS)
    return timeline.add(frames) + timeline.flush()


def test_pictures_lie_where_their_clock_says_slow_key_frames_or_not() -> None:
    pictures = _placed(captured(Codec.VP8))
    assert [picture.start for picture in pictures] == pytest.approx([1 + n / 30 for n in range(60)], abs=1e-3)
    assert {picture.source for picture in pictures} == {"track-3"}


def test_a_source_begins_with_its_first_key_frame() -> None:
    frames = captured(Codec.VP8, csrcs=(77,))
    assert [picture.payload for picture in _placed(frames[5:])] == [frame.payload for frame in frames[30:]]
    assert _placed(frames)[0].source == "77"


def test_audio_and_unknown_codecs_are_counted_and_left_alone() -> None:
    for codec in (Codec.OPUS, Codec.PCM16, Codec.OTHER_VIDEO):
        timeline = VideoTimeline(STARTED_MS)
        assert timeline.add([replace(frame, codec=codec) for frame in captured(Codec.VP8)]) + timeline.flush() == []
        assert (timeline.facts()["packets"], timeline.facts()["other"]) == (0, 60)


def test_pictures_before_the_recording_are_left_out_up_to_the_next_key_frame() -> None:
    timeline = VideoTimeline(STARTED_MS + 1_200)
    pictures = timeline.add(captured(Codec.VP8)) + timeline.flush()
    assert len(pictures) == 30
    assert pictures[0].keyframe
    assert pictures[0].start == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("codec", list(VIDEO_CODECS))
def test_pieces_give_back_every_frame_and_each_stands_by_itself(codec: Codec) -> None:
    pictures = _placed(captured(codec))
    writer = VideoPieces()
    pieces = [writer.write(pictures[at : at + 20]) for at in range(0, 60, 20)]  # the second has no key frame
    found = [picture for piece in pieces for picture in read_video_piece(piece)]
    assert [(p.source, p.codec, p.keyframe) for p in found] == [(p.source, p.codec, p.keyframe) for p in pictures]
    assert [p.start for p in found] == pytest.approx([p.start for p in pictures], abs=0.00051)
    decoder = av.CodecContext.create(VIDEO_CODECS[codec], "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.flags |= av.codec.context.Flags.low_delay
    shades = [int(f.to_ndarray()[90, 160]) for p in found for f in decoder.decode(av.Packet(p.payload))]
    assert shades == pytest.approx([20 + n * 3 for n in range(len(shades))], abs=6)
    assert len(shades) >= 58
    if codec is not Codec.H264:
        assert [p.payload for p in found] == [p.payload for p in pictures]


def test_several_sources_share_a_piece() -> None:
    pictures = _placed([*captured(Codec.VP8), *captured(Codec.H264, track=4, ssrc=10)])
    found = read_video_piece(VideoPieces().write(pictures))
    assert {(p.source, p.codec) for p in found} == {("track-3", Codec.VP8), ("track-4", Codec.H264)}
    assert len(found) == 120


def test_a_damaged_first_key_frame_costs_its_source_only() -> None:
    pictures = _placed([*captured(Codec.VP8), *captured(Codec.VP9, track=4, ssrc=10)])
    broken = [replace(p, payload=b"\0\0") if p.codec is Codec.VP8 else p for p in pictures]
    assert {p.source for p in read_video_piece(VideoPieces().write(broken))} == {"track-4"}
    with pytest.raises(BrokenMedia, match="key frame"):
        VideoPieces().write([p for p in broken if p.codec is Codec.VP8])


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, b"\x32\x50short", b"\x30no size", b"\x32\xff\xff"])
def test_a_damaged_picture_of_av1_costs_itself_only(damage: bytes) -> None:
    """The muxer looks into each, and gives up the whole piece."""
    pictures = _placed(captured(Codec.AV1))
    broken = [replace(p, payload=damage) if n in (7, 9) else p for n, p in enumerate(pictures)]
    found = read_video_piece(VideoPieces().write(broken))
    assert [p.payload for p in found] == [p.payload for n, p in enumerate(pictures) if n not in (7, 9)]
    with pytest.raises(BrokenMedia, match="key frame"):
        VideoPieces().write([replace(p, payload=damage) for p in pictures])


def test_an_empty_piece_is_refused_and_a_cut_one_is_salvaged() -> None:
    with pytest.raises(ValueError, match="at least one"):
        VideoPieces().write([])
    pictures = _placed(captured(Codec.VP8))
    piece = VideoPieces().write(pictures)
    with pytest.raises(BrokenMedia):
        read_video_piece(piece[:-100])
    saved = read_video_piece(piece[: len(piece) // 2], salvage=True)
    assert 10 < len(saved) < 60
    assert [p.payload for p in saved] == [p.payload for p in pictures[: len(saved)]]
    with pytest.raises(BrokenMedia):
        read_video_piece(b"no piece")
