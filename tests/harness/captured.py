"""Frames as a page hands them over: one person's sound and cameras, from the practice sites' own material."""

from sederunt.model.audio import CapturedFrame, Codec
from sederunt.practice import clips
from sederunt.practice.video import pictures

ZERO_MS = 1_800_000_000_000  # the recording's zero


def sound(start_s: float, end_s: float, heard: tuple[int, ...] = (7,)) -> list[CapturedFrame]:
    """Speech on one track, 50 packets a second, to which `heard` contribute."""
    clip = clips.load("cities_times")
    return [
        CapturedFrame(
            track=0,
            codec=Codec.OPUS,
            ssrc=1,
            sequence=n,
            timestamp=n * 960,
            csrcs=heard,
            level=None,
            at_ms=ZERO_MS + n * 20,
            payload=clip.frames[n % len(clip.frames)].payload,
        )
        for n in range(round(start_s * 50), round(end_s * 50))
    ]


def camera(start_s: float, end_s: float, track: int = 5) -> list[CapturedFrame]:
    """Pictures of one camera, 15 a second, a key frame every 3 seconds."""
    made = pictures()
    return [
        CapturedFrame(
            track=track,
            codec=Codec.VP8,
            ssrc=100 + track,
            sequence=n & 0xFFFF,
            timestamp=n * 6000,
            csrcs=(),
            level=None,
            at_ms=ZERO_MS + n * 1000 / 15,
            payload=b"".join(payload[1:] for payload in made[n % len(made)].payloads),
            keyframe=made[n % len(made)].is_key,
        )
        for n in range(round(start_s * 15), round(end_s * 15))
    ]
