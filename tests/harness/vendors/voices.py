"""A simple ear for voices: whose long-term spectrum is alike is one speaker.

Good enough for the practice clips, whose speakers differ in voice and in microphone; no claim beyond them.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

RATE = 16_000
FRAME, STEP, BANDS = 512, 256, 28
ALIKE = 0.9  # correlation of two spectra of one voice
LEAST_S = 1.0  # a shorter stretch goes to the voice that is nearest, and tells nothing about it

Samples = npt.NDArray[np.float32]
Spectrum = npt.NDArray[np.float64]


class Voices:
    """Voices heard so far, numbered by first appearance."""

    def __init__(self, alike: float = ALIKE) -> None:
        self._alike = alike
        self._known: list[tuple[Spectrum, float]] = []  # mean spectrum, seconds

    def number(self, samples: Samples) -> int:
        """Whose voice it is; a new number where it is nobody's."""
        seconds = len(samples) / RATE
        spectrum = spectrum_of(samples)
        likeness = [float(np.corrcoef(spectrum, known)[0, 1]) for known, _ in self._known]
        best = int(np.argmax(likeness)) if likeness else -1
        if best < 0 or (likeness[best] < self._alike and seconds >= LEAST_S):
            self._known.append((spectrum, seconds))
            return len(self._known) - 1
        if seconds >= LEAST_S:
            known, before = self._known[best]
            self._known[best] = ((known * before + spectrum * seconds) / (before + seconds), before + seconds)
        return best


def tell_apart(stretches: Sequence[Samples], alike: float = ALIKE) -> list[int]:
    """A number per stretch, by first appearance."""
    voices = Voices(alike)
    return [voices.number(stretch) for stretch in stretches]


def spectrum_of(samples: Samples) -> Spectrum:
    """Mean log spectrum of the louder half of the frames, in bands, without its overall level."""
    padded = np.pad(samples, (0, max(0, 4 * FRAME - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::STEP] * np.hanning(FRAME)
    loud = frames[np.argsort(np.square(frames).sum(axis=1))[len(frames) // 2 :]]
    power = np.square(np.abs(np.fft.rfft(loud, axis=1))).mean(axis=0)
    edges = np.unique(np.round(np.geomspace(2, FRAME // 2, BANDS + 1)).astype(int))
    bands = np.array([power[low:high].mean() for low, high in pairwise(edges)])
    levels = np.log(bands + 1e-9)
    shape: Spectrum = levels - levels.mean()
    return shape
