"""What a page delivers: encoded packets, or samples if there are no packets."""

from dataclasses import dataclass
from enum import IntEnum


class Codec(IntEnum):
    """The kind byte of a captured frame, shared with the in-page scripts."""

    OPUS = 0
    RED = 1  # audio/red: an envelope around Opus packets (RFC 2198)
    OTHER_AUDIO = 2
    PCM16 = 3  # mono little-endian samples, from the worklet backend
    VP8 = 4
    VP9 = 5
    H264 = 6
    OTHER_VIDEO = 7
    AV1 = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class CapturedFrame:
    """One frame as it left a receiver, before any jitter buffer."""

    track: int  # ordinal of the receiver in the page
    codec: Codec
    ssrc: int  # for PCM16 the sample rate in Hz
    sequence: int  # 16 bit, as on the wire; for PCM16 a counter of blocks
    timestamp: int  # 32 bit RTP time (48 kHz for Opus); for PCM16 samples since the start
    csrcs: tuple[int, ...]
    level: float | None  # 0 to 1, linear; None if the packet carried none
    at_ms: float  # when the page read it (PCM16: the time of its first sample), Unix milliseconds of this machine
    payload: bytes
    keyframe: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Packet:
    """One Opus packet at its place in the recording."""

    source: str  # CSRC in decimal if a track holds one person at a time, else "track-<n>"
    start: float  # seconds from the start of the recording
    duration: float  # seconds, from the packet's TOC byte
    payload: bytes
    level: float | None = None  # 0 to 1, linear, of the RTP packet it came in; not kept in pieces
    voices: tuple[str, ...] = ()  # the speakers in it, on a mixed track: CSRCs in decimal; not kept in pieces
