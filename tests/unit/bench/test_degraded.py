"""What is done to speech before it is judged how well it is heard."""

import numpy as np
import pytest

from sederunt.bench.degraded import DEGRADED, FASTER, QUIET, faster, higher, noisy, telephoned
from sederunt.transcription.whisper.speech import RATE, Samples


def tone(hz: float, seconds: float = 1.0) -> Samples:
    return (0.3 * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def loudest_hz(samples: Samples) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * RATE / len(samples))


@pytest.mark.parametrize("name", DEGRADED)
def test_sound_stays_sound_of_about_its_length(name: str) -> None:
    heard = DEGRADED[name](tone(440))
    assert heard.dtype == np.float32
    assert np.isfinite(heard).all()
    wanted = RATE / (FASTER if name == "faster" else 1)
    assert len(heard) == pytest.approx(wanted, rel=0.03)
    assert float(np.abs(heard).max()) > 0.3 * (QUIET if name == "quiet" else 0.5)


def test_noise_lies_as_far_below_as_it_is_said() -> None:
    clean = tone(440)
    noise = noisy(clean, 10.0) - clean
    ratio = 20 * np.log10(np.sqrt(np.mean(clean**2)) / np.sqrt(np.mean(noise**2)))
    assert ratio == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize(("hz", "passes"), [(100, False), (1000, True), (5000, False)])
def test_a_telephone_has_no_bass_and_no_treble(hz: float, passes: bool) -> None:
    heard = telephoned(tone(hz) + tone(1500) * np.float32(0.5))
    assert (np.abs(np.fft.rfft(heard))[round(hz)] > 0.5 * np.abs(np.fft.rfft(tone(hz)))[round(hz)]) == passes


def test_speed_keeps_the_pitch_and_a_higher_voice_the_length() -> None:
    assert loudest_hz(faster(tone(440))) == pytest.approx(440, rel=0.02)
    assert loudest_hz(higher(tone(440))) == pytest.approx(1.35 * 440, rel=0.02)
