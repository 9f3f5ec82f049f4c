"""Factories of what a page hands over: Opus packets of real speech-like sound, and frames around them."""

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from sederunt.media.opus import RATE, OpusEncoder
from sederunt.model.audio import CapturedFrame, Codec, Packet

STARTED_MS = 1_790_000_000_000.0

MakeFrame = Callable[..., CapturedFrame]
MakePackets = Callable[..., list[Packet]]


@cache
def tone_packets(seconds: float, hertz: float = 440.0) -> tuple[bytes, ...]:
    encoder = OpusEncoder(RATE, 32_000)
    made = encoder.encode(tone(seconds, hertz))
    return (*made, *encoder.flush())


def tone(seconds: float, hertz: float = 440.0, level: float = 0.3, rate: int = RATE) -> npt.NDArray[np.int16]:
    times = np.arange(round(seconds * rate)) / rate
    return (level * 32_767 * np.sin(2 * np.pi * hertz * times)).astype(np.int16)


@pytest.fixture
def make_frame() -> MakeFrame:
    """One Opus frame: number `n` of a sender with 20 ms packets, 50 ms on its way."""

    def make(n: int, **changes: object) -> CapturedFrame:
        facts: dict[str, object] = {
            "track": 0,
            "codec": Codec.OPUS,
            "ssrc": 7,
            "sequence": (65_530 + n) & 0xFFFF,
            "timestamp": (4_294_960_000 + 960 * n) & 0xFFFFFFFF,
            "csrcs": (1001,),
            "level": None,
            "at_ms": STARTED_MS + 50 + 20 * n,
            "payload": bytes([0x78, n & 0xFF, n >> 8 & 0xFF, 1, 2, 3]),
        }
        return CapturedFrame(**(facts | changes))  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_packets() -> MakePackets:
    """Packets of a tone from one source, one after another from `start`."""

    def make(source: str = "1001", start: float = 0.0, seconds: float = 1.0, hertz: float = 440.0) -> list[Packet]:
        return [
            Packet(source=source, start=start + n * 0.02, duration=0.02, payload=payload)
            for n, payload in enumerate(tone_packets(seconds, hertz))
        ]

    return make
