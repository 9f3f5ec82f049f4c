"""Speech made harder to hear, in ways that meetings do: what quality is judged on beside clean clips."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from sederunt.transcription.whisper.speech import RATE, Samples

TELEPHONE_HZ, STEPS = (300.0, 3400.0), 127  # the band, and the steps of 8 bits on each side of zero
ECHO_S, DECAY_S, DIRECT = 0.4, 0.08, 8.0  # of a room: how long it sounds, how fast it fades, how near the speaker is
QUIET = 0.02
FASTER, HIGHER = 1.25, 1.35
# Sound is played at another speed in overlapping pieces, each laid where it fits best to the one before.
PIECE, HOP, SEARCH = 640, 320, 160


def noisy(samples: Samples, below_db: float) -> Samples:
    """Return sound with white noise so far below its speech, pauses included."""
    spoken = samples[np.abs(samples) > 0.003 * np.abs(samples).max(initial=0.0)]
    level = float(np.sqrt(np.mean(spoken**2))) * 10 ** (-below_db / 20) if len(spoken) else 0.0
    return (samples + np.random.default_rng(7).normal(0, level, len(samples))).astype(np.float32)


def telephoned(samples: Samples) -> Samples:
    """Return sound in a telephone's band and its 8 bits (G.711), taken 8,000 times a second as telephones do."""
    length = len(samples) + len(samples) % 2
    spectrum = np.fft.rfft(samples, length)
    hz = np.fft.rfftfreq(length, 1 / RATE)
    spectrum[(hz < TELEPHONE_HZ[0]) | (hz > TELEPHONE_HZ[1])] = 0
    band = np.fft.irfft(spectrum, length)[::2]
    most = float(np.abs(band).max(initial=0.0)) or 1.0
    steps = np.round(STEPS * np.sign(band) * np.log1p(255 * np.abs(band) / most) / np.log(256)) / STEPS
    coded = most * np.sign(steps) * np.expm1(np.abs(steps) * np.log(256)) / 255
    return (2 * np.fft.irfft(np.fft.rfft(coded), length))[: len(samples)].astype(np.float32)


def in_a_room(samples: Samples) -> Samples:
    """Return sound with the echoes of a room."""
    count = round(ECHO_S * RATE)
    echo = np.random.default_rng(7).normal(0, 1, count) * np.exp(-np.arange(count) / (DECAY_S * RATE))
    echo[0] = DIRECT
    length = len(samples) + count
    heard = np.fft.irfft(np.fft.rfft(samples, length) * np.fft.rfft(echo / np.linalg.norm(echo), length), length)
    return heard[: len(samples)].astype(np.float32)


def faster(samples: Samples, times: float = FASTER) -> Samples:
    """Return sound spoken so many times as fast, at the same pitch."""
    window = np.hanning(PIECE).astype(np.float32)
    padded = np.pad(samples, (0, PIECE + HOP + SEARCH))
    count = int(len(samples) / times / HOP)
    out, weight = np.zeros(count * HOP + PIECE, np.float32), np.full(count * HOP + PIECE, 1e-3, np.float32)
    at = 0
    for n in range(count):
        first = max(0, int(n * HOP * times) - SEARCH)
        following = padded[at + HOP : at + HOP + PIECE]  # what came behind the last piece
        near = padded[first : first + PIECE + 2 * SEARCH]
        at = first + int(np.argmax(np.correlate(near, following[: len(near)], "valid"))) if n else 0
        piece = padded[at : at + PIECE]
        out[n * HOP : n * HOP + len(piece)] += piece * window[: len(piece)]
        weight[n * HOP : n * HOP + len(piece)] += window[: len(piece)]
    return (out / weight)[: count * HOP]


def higher(samples: Samples) -> Samples:
    """Return sound in a higher voice, as long as before."""
    places = np.arange(int(len(samples) / HIGHER)) * HIGHER
    return faster(np.interp(places, np.arange(len(samples)), samples).astype(np.float32), 1 / HIGHER)


def quiet(samples: Samples) -> Samples:
    """Return sound at a fiftieth of its level."""
    return samples * np.float32(QUIET)


DEGRADED: Mapping[str, Callable[[Samples], Samples]] = MappingProxyType(
    {
        **{f"noise {below_db} dB": partial(noisy, below_db=below_db) for below_db in (20, 10, 5)},
        "telephone": telephoned,
        "room": in_a_room,
        "faster": faster,
        "higher": higher,
        "quiet": quiet,
    }
)
# Of these words lie elsewhere than in the clean sound, or sound too different to be timed by it.
MOVED = frozenset({"faster", "higher"})
