"""The binary layout of a page's captured frames, which js/packing.js writes.

Little-endian throughout. One WebSocket message is one batch:

    offset  size  batch
         0     1  mark, 0x53
         1     1  version, 1
         2     2  number of frames
         4     4  sequence number of the batch within its realm (a page or frame), from 0
         8     8  float64: Unix milliseconds, the base of the frames' times

    offset  size  frame, directly after one another
         0     2  track, within its realm
         2     1  codec, see model.audio.Codec
         3     1  flags: 1 key frame, 2 level present
         4     4  ssrc; of samples, their rate in Hz
         8     4  RTP timestamp
        12     2  sequence number
        14     1  number of CSRCs
        15     1  unused
        16     4  float32: level, 0 to 1
        20     4  microseconds after the batch's base at which the frame was read
        24     4  length of the payload
        28   4*n  CSRCs, then the payload
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from struct import Struct, error, unpack_from

from sederunt.model.audio import CapturedFrame, Codec

MARK, VERSION = 0x53, 1
BATCH = Struct("<BBHId")
FRAME = Struct("<HBBIIHBxfII")
KEY_FRAME, HAS_LEVEL = 1, 2
MOST_ASTRAY_MS = 24 * 3_600_000  # a page's clock may have been set, but not by more than this
TRACKS_PER_REALM = 1 << 16  # as many as it can write: a bot's numbers, in order of the realms' first messages

_CODECS = tuple(Codec)


class BrokenBatch(ValueError):
    """A message that does not follow the layout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """One message of a page's worker."""

    sequence: int
    frames: list[CapturedFrame]


def read_batch(
    data: bytes,
    *,
    realm: int = 0,
    now_ms: float | None = None,
    in_ours: Callable[[float], float] = float,
) -> Batch:
    """Return the frames of one message.

    Args:
        realm: ordinal of the realm within its bot.
        now_ms: Unix milliseconds; a batch more than a day away is broken.
        in_ours: converts the page's times into those of `now_ms`.

    Raises BrokenBatch.
    """
    try:
        mark, version, count, sequence, base_ms = BATCH.unpack_from(data)
        if mark != MARK or version != VERSION:
            raise BrokenBatch(f"expected a batch of version {VERSION}, found mark {mark:#x}, version {version}")
        base_ms = in_ours(base_ms)
        if not isfinite(base_ms) or (now_ms is not None and abs(base_ms - now_ms) > MOST_ASTRAY_MS):
            raise BrokenBatch("its time is none")
        frames = list(_frames(data, count, base_ms, realm * TRACKS_PER_REALM))
    except (error, IndexError) as cause:
        raise BrokenBatch(f"a batch of {len(data)} bytes ends too early") from cause
    return Batch(sequence=sequence, frames=frames)


def _frames(data: bytes, count: int, base_ms: float, first_track: int) -> Iterator[CapturedFrame]:
    offset = BATCH.size
    for _ in range(count):
        track, codec, flags, ssrc, timestamp, sequence, sources, level, offset_us, length = FRAME.unpack_from(
            data, offset
        )
        offset += FRAME.size
        csrcs = unpack_from(f"<{sources}I", data, offset)
        offset += 4 * sources
        if offset + length > len(data):
            raise IndexError
        yield CapturedFrame(
            track=first_track + track,
            codec=_CODECS[codec],
            ssrc=ssrc,
            sequence=sequence,
            timestamp=timestamp,
            csrcs=csrcs,
            level=level if flags & HAS_LEVEL else None,
            at_ms=base_ms + offset_us / 1000,
            payload=data[offset : offset + length],
            keyframe=bool(flags & KEY_FRAME),
        )
        offset += length
