"""Filter banks as Kaldi computes them, the features that the voice network was trained on. Pure numpy."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Features = NDArray[np.float32]

RATE, BANDS = 16_000, 80
FRAME_STEP = 160  # samples: 10 ms
_FRAME, _FFT = 400, 512  # samples: 25 ms, and the next power of two
_LOWEST_HZ, _HIGHEST_HZ = 20.0, 8000.0
_PRE_EMPHASIS = 0.97
_FULL_SCALE = 32_768  # Kaldi expects 16-bit integers
_AT_ONCE = 64  # frames: intermediate results of so many stay in a core's cache, which halves the time


def features(samples: Samples) -> Features:
    """Return (frames, 80): log energy per band and frame, minus each band's mean over the stretch; at least one
    frame."""
    padded_samples = np.pad(samples, (0, max(0, _FRAME - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(padded_samples, _FRAME)[::FRAME_STEP]
    parts = [_band_powers(frames[first : first + _AT_ONCE]) for first in range(0, len(frames), _AT_ONCE)]
    energies = np.log(np.maximum(np.concatenate(parts), np.finfo(np.float32).eps))
    return np.asarray(energies - energies.mean(axis=0, keepdims=True), np.float32)


def _band_powers(frames: NDArray[np.float32]) -> Features:
    frames = frames * np.float32(_FULL_SCALE)
    frames -= frames.mean(axis=1, keepdims=True)
    emphasised = frames - np.float32(_PRE_EMPHASIS) * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    spectrum = np.fft.rfft(emphasised * _window(), _FFT)
    return np.asarray((spectrum.real**2 + spectrum.imag**2) @ _bands(), np.float32)


@cache
def _window() -> Features:
    """Return Povey's window: a Hann window to the power of 0.85."""
    return np.asarray(np.hanning(_FRAME) ** 0.85, np.float32)


@cache
def _bands() -> Features:
    """Return (bins, 80): triangles, evenly spaced in mel."""
    edges = np.linspace(_mel(np.array(_LOWEST_HZ)), _mel(np.array(_HIGHEST_HZ)), BANDS + 2)
    bins = _mel(np.arange(_FFT // 2 + 1) * RATE / _FFT)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0.0, np.minimum(rising, falling))
    weights[-1] = 0.0  # Kaldi leaves the highest bin out
    return np.asarray(weights, np.float32)


def _mel(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1127.0 * np.log(1.0 + hz / 700.0)
