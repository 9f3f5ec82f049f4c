"""Filter banks against Kaldi's own, computed once by kaldi-native-fbank 1.22 (80 bands, no dither, Povey window)."""

import numpy as np

from sederunt.transcription.diarization.fbank import features

# Frame → bands 0, 20, 40, 60, 79 of half a second of a tone and a rising one.
KALDI = {
    0: (-0.866, 0.019, 1.968, -4.222, -5.356),
    20: (-0.828, 0.021, 0.57, 5.841, -1.048),
    47: (0.423, -0.025, -0.745, -7.2, 2.701),
}


def test_energies_are_kaldis() -> None:
    time = np.arange(8000) / 16_000
    tones = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.1 * np.sin(2 * np.pi * 3000 * time * (1 + time))
    found = features(tones.astype(np.float32))
    assert found.shape == (48, 80)
    for frame, energies in KALDI.items():
        assert np.allclose(found[frame, [0, 20, 40, 60, 79]], energies, atol=0.015)


def test_the_shortest_sound_has_a_frame() -> None:
    assert features(np.zeros(3, np.float32)).shape == (1, 80)
