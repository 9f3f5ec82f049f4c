"""Speaking and silence, from levels where there are any and from sizes where not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sederunt.media.activity import STOPPED_AFTER_S, Activity
from sederunt.media.opus import RATE, OpusEncoder
from sederunt.model.audio import Packet


def _packets(levels: Sequence[float | None], size: int = 80, start: float = 0.0) -> list[Packet]:
    return [
        Packet(source="1001", start=start + 0.02 * n, duration=0.02, payload=b"\x78" + bytes(size), level=level)
        for n, level in enumerate(levels)
    ]


def _feed(packets: Sequence[Packet], batch: int = 10, now_s: float | None = None) -> list[tuple[str, bool, float]]:
    activity = Activity()
    changes = []
    for at in range(0, len(packets), batch):
        changes += activity.feed(packets[at : at + batch])
    return [(who, speaks, round(at, 3)) for who, speaks, at in [*changes, *activity.feed((), now_s=now_s)]]


def _voiced_between(start: float, end: float) -> list[Packet]:
    """Hybrid packets whose voice bit is set in between."""
    starts = [n * 0.02 for n in range(250)]
    return [
        Packet(
            source="1001",
            start=at,
            duration=0.02,
            payload=bytes([0x78, 0x80 if start - 1e-6 <= at < end - 1e-6 else 0]) + bytes(60),
        )
        for at in starts
    ]


def test_the_level_tells_beginning_and_end() -> None:
    packets = _packets([0.001] * 50 + [0.2] * 100 + [0.001] * 100)
    assert _feed(packets) == [("1001", True, 1.0), ("1001", False, 3.0)]


def test_pauses_between_words_are_no_end_and_clicks_no_beginning() -> None:
    words = [0.3] * 20 + [0.001] * 25 + [0.3] * 20
    assert _feed(_packets([0.001] * 50 + [0.9] * 2 + [0.001] * 50)) == []
    assert _feed(_packets(words)) == [("1001", True, 0.0)]


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_batches_change_nothing(batch: int) -> None:
    packets = _packets(([0.3] * 40 + [0.0] * 60) * 3)
    assert _feed(packets, batch) == _feed(packets, 50)


def test_a_source_that_sends_nothing_more_stops_when_time_passes() -> None:
    packets = _packets([0.3] * 50)
    assert _feed(packets, now_s=1.0 + STOPPED_AFTER_S - 0.01) == [("1001", True, 0.0)]
    assert _feed(packets, now_s=1.0 + STOPPED_AFTER_S + 0.01) == [("1001", True, 0.0), ("1001", False, 1.0)]


def test_without_levels_the_encoders_own_opinion_counts() -> None:
    packets = _voiced_between(1.0, 3.0)
    assert _feed(packets, now_s=6.0) == [("1001", True, 1.0), ("1001", False, 3.0)]


def test_music_packets_are_told_from_quiet_ones_by_their_size() -> None:
    sizes = [60] * 50 + [100] * 100 + [60] * 100
    packets = [
        Packet(source="1001", start=n * 0.02, duration=0.02, payload=b"\xf8" + bytes([7] * size))
        for n, size in enumerate(sizes)
    ]
    changes = _feed(packets, now_s=6.0)
    assert changes[-1] == ("1001", False, 3.0)


def test_a_synthetic_voice_is_found_between_two_quiet_stretches() -> None:
    rng = np.random.default_rng(1)
    times = np.arange(RATE * 2) / RATE
    syllables = (np.sin(2 * np.pi * 4 * times) > -0.6) * 1.0
    voice = sum(np.sin(2 * np.pi * 140 * k * times) / k for k in range(1, 20)) * syllables
    quiet = rng.normal(0, 3, RATE * 2)
    sound = np.concatenate([quiet, voice * 3_000 + quiet, quiet]).astype(np.int16)
    encoder = OpusEncoder(RATE, 24_000)
    payloads = encoder.encode(sound) + encoder.flush()
    packets = [
        Packet(source="track-0", start=n * 0.02, duration=0.02, payload=payload) for n, payload in enumerate(payloads)
    ]
    changes = _feed(packets, now_s=7.0)
    assert [(who, speaks) for who, speaks, _ in changes] == [("track-0", True), ("track-0", False)]
    assert changes[0][2] == pytest.approx(2.0, abs=0.2)
    assert changes[1][2] == pytest.approx(4.0, abs=0.5)


def test_silent_packets_are_never_speech() -> None:
    packets = [Packet(source="7", start=n * 0.4, duration=0.02, payload=b"\x78", level=0.5) for n in range(20)]
    assert _feed(packets) == []


def test_who_speaks_now_is_known() -> None:
    activity = Activity()
    activity.feed(_packets([0.3] * 20))
    assert activity.speaking() == {"1001"}


def test_in_a_mix_everybody_who_contributes_is_heard_under_their_own_name() -> None:
    loud = _packets([0.2] * 100)
    mixed = [
        replace(packet, source="track-0", voices=("1001", "1002") if n < 50 else ("1002",))
        for n, packet in enumerate(loud)
    ]
    assert _feed(mixed, now_s=5.0) == [
        ("1001", True, 0.0),
        ("1002", True, 0.0),
        ("1001", False, 1.0),
        ("1002", False, 2.0),
    ]
