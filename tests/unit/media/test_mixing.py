"""The mix: sound at its place to the sample, gaps concealed, peaks turned down and not cut off."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.media import opus
from sederunt.media.mixing import CEILING, HOP, Limiter, Mixer, Samples, Voice
from sederunt.model.audio import Packet


def _mix(packets: Sequence[Packet], end_s: float | None) -> Samples:
    written: list[Samples] = []
    mixer = Mixer(written.append, None if end_s is None else round(end_s * opus.RATE))
    voices: dict[str, Voice] = {}
    for packet in sorted(packets, key=lambda packet: packet.start):
        mixer.advance(round(packet.start * opus.RATE), iter(voices.values()))
        for at, samples in voices.setdefault(packet.source, Voice()).decode(packet):
            mixer.add(at, samples)
    mixer.finish(iter(voices.values()))
    return np.concatenate(written)


def _tone(start: float, seconds: float, source: str = "1", hertz: float = 400, level: float = 0.3) -> list[Packet]:
    times = np.arange(round(seconds * opus.RATE)) / opus.RATE
    encoder = opus.OpusEncoder(opus.RATE, 64_000)
    payloads = encoder.encode((level * 32_767 * np.sin(2 * np.pi * hertz * times)).astype(np.int16))
    return [
        Packet(source=source, start=start + n * 0.02, duration=0.02, payload=payload)
        for n, payload in enumerate([*payloads, *encoder.flush()])
    ]


def _level(samples: npt.NDArray[np.float32], start: float, end: float) -> float:
    part = samples[round(start * opus.RATE) : round(end * opus.RATE)]
    return float(np.sqrt(np.mean(part**2)))


@pytest.mark.parametrize("start", [0.0, 0.5, 7.3004, 61.25])
def test_sound_lies_where_its_packets_say_and_nowhere_else(start: float) -> None:
    mixed = _mix(_tone(start, 1.0), start + 3)
    assert len(mixed) == round((start + 3) * opus.RATE)
    assert _level(mixed, start + 0.05, start + 0.95) == pytest.approx(0.3 / np.sqrt(2), rel=0.05)
    assert start < 0.1 or _level(mixed, 0, start - 0.01) == 0.0
    assert _level(mixed, start + 1.05, start + 3) == 0.0


def test_a_tone_stays_on_its_phase_however_the_milliseconds_were_rounded() -> None:
    packets = [
        Packet(source="1", start=round(packet.start, 3), duration=0.02, payload=packet.payload)
        for packet in _tone(2.00049, 4.0, hertz=997)
    ]
    mixed = _mix(packets, 7)[round(2.1 * opus.RATE) : round(5.9 * opus.RATE)]
    times = np.arange(len(mixed)) / opus.RATE
    reference = np.exp(-2j * np.pi * 997 * times)
    assert abs(np.mean(mixed * reference)) == pytest.approx(0.15, rel=0.03)  # one jump would halve it


def test_lost_packets_are_concealed_and_a_pause_is_silent_without_a_click() -> None:
    packets = _tone(1.0, 3.0)
    del packets[50:53], packets[97:]  # 60 ms lost at 2.0 s; silence from 3.0 s
    mixed = _mix([*packets, *_tone(3.6, 0.4)], 5)
    assert _level(mixed, 2.0, 2.06) > 0.1
    assert 0 < _level(mixed, 3.0, 3.02) < 0.2
    assert _level(mixed, 3.05, 3.59) == 0.0
    steps = np.abs(np.diff(mixed[round(1.02 * opus.RATE) :]))
    assert steps.max() < 0.3 * 2 * np.pi * 400 / opus.RATE * 3  # hardly more than the tone itself has


def test_what_lies_beyond_the_end_is_cut() -> None:
    assert len(_mix(_tone(1.0, 3.0), 2.5)) == round(2.5 * opus.RATE)
    assert len(_mix(_tone(1.0, 3.0), None)) == round(4.0 * opus.RATE)
    assert len(_mix([], 2.5)) == round(2.5 * opus.RATE)


def test_overlapping_packets_of_one_source_are_heard_once() -> None:
    late = [
        Packet(source="1", start=packet.start + 0.006, duration=0.02, payload=packet.payload)
        for packet in _tone(2.0, 1.0)
    ]
    mixed = _mix([*_tone(1.0, 1.0), *late], 4)
    assert _level(mixed, 1.05, 2.95) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)


def test_several_loud_voices_stay_under_the_ceiling_and_a_single_one_is_untouched() -> None:
    voices = [packet for n in range(5) for packet in _tone(1.0, 1.0, str(n), 300 + 110 * n, 0.6)]
    mixed = _mix([*voices, *_tone(4.0, 1.0, "0", 300, 0.6)], 6)
    assert np.abs(mixed).max() <= CEILING + 1e-6
    assert _level(mixed, 1.2, 1.8) > 0.2
    assert _level(mixed, 4.1, 4.9) == pytest.approx(0.6 / np.sqrt(2), rel=0.05)


@given(
    st.lists(st.integers(1, 3_000), min_size=1, max_size=8),
    st.lists(st.floats(0, 4), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_limiter_keeps_length_and_ceiling_for_any_signal_and_blocks(
    blocks: list[int], loudness: list[float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    limiter, went_in, came_out = Limiter(), [], []
    for n, block in enumerate(blocks):
        samples = (rng.uniform(-1, 1, block) * loudness[n % len(loudness)]).astype(np.float32)
        went_in.append(samples)
        came_out.append(limiter.limit(samples))
    came_out.append(limiter.flush())
    before, after = np.concatenate(went_in), np.concatenate(came_out)
    assert len(after) == len(before)
    assert np.abs(after).max() <= CEILING + 1e-6
    if np.abs(before).max() <= CEILING:
        assert np.array_equal(after, before)


def test_the_limiter_turns_down_before_the_peak_and_recovers() -> None:
    limiter = Limiter()
    samples = np.full(opus.RATE * 2, 0.5, dtype=np.float32)
    samples[opus.RATE // 2 : opus.RATE // 2 + HOP] = 1.78
    out = np.concatenate([limiter.limit(samples), limiter.flush()])
    assert out[opus.RATE // 2 - 1] == pytest.approx(0.25, rel=0.02)  # already down when the peak begins
    assert np.abs(np.diff(out[: opus.RATE // 2])).max() < 0.005
    assert out[-1] == pytest.approx(0.5)
