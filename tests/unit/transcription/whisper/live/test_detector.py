"""Loudness beside the detector: what stands out of a stream's own noise, and stays."""

import numpy as np
import pytest

from sederunt.transcription.whisper.live.detector import SpeechDetector
from sederunt.transcription.whisper.speech import FRAME, RATE, Samples


def noise(seconds: float, level: float, seed: int = 1) -> Samples:
    count = round(seconds * RATE) // FRAME * FRAME
    return np.random.default_rng(seed).normal(0, level, count).astype(np.float32)


def loud_share(*parts: Samples) -> float:
    """Return the share of the last part that is loud, heard a tenth of a second at a time."""
    ear, found = SpeechDetector(), np.zeros(0, np.bool_)
    for part in parts:
        blocks = part.reshape(-1, FRAME)
        found = np.concatenate([ear.hear(blocks[n : n + 3].reshape(-1)).loud for n in range(0, len(blocks), 3)])
    return float(found.mean())


@pytest.mark.parametrize("gain", [1.0, 0.02])
def test_what_lasts_and_stands_out_of_the_noise_is_loud_at_any_level(gain: float) -> None:
    assert loud_share(noise(4, 0.001 * gain), noise(2, 0.02 * gain)) > 0.8


def test_steady_noise_is_not_loud() -> None:
    assert loud_share(noise(4, 0.02), noise(10, 0.02, seed=2)) == 0


def test_noise_that_stays_becomes_the_noise() -> None:
    assert loud_share(noise(4, 0.001), noise(10, 0.02), noise(4, 0.02)) == 0


def test_clicks_are_not_loud() -> None:
    clicking = noise(5, 0.001)
    for first in range(0, len(clicking), RATE // 5):
        clicking[first : first + FRAME] *= 100
    assert loud_share(noise(4, 0.001), clicking) == 0


def test_the_tail_of_a_voice_is_not_loud() -> None:
    voice, tail = noise(3, 0.1), noise(1, 0.005)
    assert loud_share(noise(4, 0.0002), voice, tail) == 0


def test_nothing_but_what_a_sound_card_adds_is_silence() -> None:
    constant = np.full(RATE // FRAME * FRAME, 0.5, np.float32)
    assert loud_share(constant) == 0
    assert loud_share(constant, noise(4, 0.001) + 0.5, noise(2, 0.02) + 0.5) > 0.8


def test_what_a_sound_card_adds_is_no_noise() -> None:
    assert loud_share(noise(4, 0.001) + 0.2, noise(2, 0.02) + 0.2) > 0.8
