"""What is loud in a stretch of sound."""

import numpy as np

from sederunt.transcription.whisper.speech import RATE, listen


def test_what_a_sound_card_adds_hides_nothing() -> None:
    levels = np.repeat([0.001, 0.05, 0.001], RATE)
    clean = np.random.default_rng(1).normal(0, levels).astype(np.float32)
    plain, shifted = listen(clean), listen(clean + np.float32(0.2))
    assert plain.active.sum() > 20
    np.testing.assert_array_equal(shifted.active, plain.active)


def test_an_offset_alone_is_silence() -> None:
    assert not listen(np.full(RATE, 0.2, np.float32)).active.any()
