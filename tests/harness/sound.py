"""Where a sound is inside of another one. Mono samples at 16 kHz."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RATE = 16_000

Samples = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    at_s: float
    likeness: float  # 1: the same but for loudness; 0: nothing in common


def find(sound: Samples, within: Samples) -> Place:
    """Where `sound` is most alike to a stretch of `within`, by normalized correlation."""
    size = 1 << (len(sound) + len(within)).bit_length()
    products = np.fft.irfft(np.fft.rfft(within, size) * np.conj(np.fft.rfft(sound, size)), size)
    places = products[: len(within) - len(sound) + 1]
    own = float(sound @ sound)
    # What is 40 dB fainter is silence: rounding errors are alike to anything there.
    likeness = places / np.sqrt(np.maximum(_energies(within, len(sound)), 1e-4 * own) * own)
    best = int(np.argmax(likeness))
    return Place(at_s=best / RATE, likeness=float(likeness[best]))


def _energies(samples: Samples, length: int) -> Samples:
    """The energy of each stretch of so many samples."""
    sums = np.concatenate([[0.0], np.cumsum(samples**2)])
    energies: Samples = sums[length:] - sums[:-length]
    return energies
