"""The binary layout of captured frames, from the side that reads it."""

from struct import pack

import pytest

from sederunt.browser.frame_batches import BrokenBatch, read_batch
from sederunt.model.audio import Codec


def batch_of(*frames: bytes, sequence: int = 0, base_ms: float = 1_700_000_000_000.5) -> bytes:
    return pack("<BBHId", 0x53, 1, len(frames), sequence, base_ms) + b"".join(frames)


def frame_of(
    payload: bytes = b"opus",
    *,
    track: int = 2,
    codec: int = 0,
    flags: int = 0,
    csrcs: tuple[int, ...] = (),
    level: float = 0.0,
    offset_us: int = 0,
) -> bytes:
    head = pack(
        "<HBBIIHBxfII", track, codec, flags, 0xFFFF_FFFE, 0x8000_0001, 65535, len(csrcs), level, offset_us, len(payload)
    )
    return head + pack(f"<{len(csrcs)}I", *csrcs) + payload


def test_every_field_of_a_frame_is_read() -> None:
    frame = frame_of(b"\x01\x02", csrcs=(1001, 4_000_000_000), flags=3, level=0.5, offset_us=20_250)
    (read,) = read_batch(batch_of(frame)).frames
    assert (read.track, read.codec, read.ssrc, read.timestamp) == (2, Codec.OPUS, 0xFFFF_FFFE, 0x8000_0001)
    assert (read.sequence, read.csrcs, read.level, read.keyframe) == (65535, (1001, 4_000_000_000), 0.5, True)
    assert (read.at_ms, read.payload) == (1_700_000_000_020.75, b"\x01\x02")


def test_a_frame_without_level_has_none_and_not_silence() -> None:
    (read,) = read_batch(batch_of(frame_of(level=0.0))).frames
    assert read.level is None


def test_empty_frames_and_several_codecs_stand_in_one_batch() -> None:
    batch = read_batch(batch_of(frame_of(b""), frame_of(b"red", codec=1), frame_of(b"pcm", codec=3), sequence=7))
    assert batch.sequence == 7
    assert [(f.codec, f.payload) for f in batch.frames] == [
        (Codec.OPUS, b""),
        (Codec.RED, b"red"),
        (Codec.PCM16, b"pcm"),
    ]


@pytest.mark.parametrize("track", [1, 100, 0xFFFF])
def test_no_track_of_a_realm_has_the_number_of_one_of_the_next_realm(track: int) -> None:
    """A page that makes its receivers anew again and again comes to its hundredth within the meeting."""
    numbers = [
        read_batch(batch_of(frame_of(track=number)), realm=realm).frames[0].track
        for realm in range(3)
        for number in (0, track)
    ]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"S\x01",
        batch_of(frame_of())[:-1],
        batch_of(frame_of(csrcs=(1, 2)))[:-6],
        batch_of(frame_of(codec=99)),
        b"X" + batch_of()[1:],
        b"S\x02" + batch_of()[2:],
    ],
)
def test_what_does_not_follow_the_layout_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenBatch):
        read_batch(data)
