"""Where in a stretch of sound somebody speaks: loudness, and a small neural detector.

If the detector (Silero, in the faster-whisper wheel) decides what to delete, quiet voices are lost: measured up to
30 % of the words, and on seven meeting excerpts it was sure of 44 % of the speech. So it deletes nothing here: a
stretch counts as empty only if it is quiet as well. The gain is normalised before detection: at half the level the
detector kept 34 % of one speaker's speech, at three times the level 83 %.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 16_000
FRAME = 512  # samples per decision of the detector
FRAME_S = FRAME / RATE

# Below this (about -84 dBFS, two steps of 16 bit) nothing is audible at any gain: a muted track.
FLOOR = 0.00006
# Sound is brought to the level TARGET before detection, by at most this gain.
TARGET, MOST_GAIN = 0.12, 300.0
# A quiet voice after a loud one is raised by at most MOST_LIFT more; the gain follows NEIGHBOURS frames (about a
# second) on both sides.
MOST_LIFT, NEIGHBOURS = 60.0, 32
# Frames that share one gain: a window, and the sound that is judged after it.
USUAL = 700
# A frame above the first is speech, one above the second may be; if none is above the third, nobody speaks. White
# noise reached 0.30, and one clear voice on a bad line only 0.12, so in between the network's own judgement decides.
SURE, MAYBE, NEVER = 0.5, 0.12, 0.06
# A stretch of frames above this should have words.
SPOKEN = 0.25


# A frame that is so many times louder than the quietest tenth of its surroundings may be speech too: this finds 80 %,
# Silero 63 %.
ABOVE_NOISE = 4.0


@dataclass(frozen=True)
class SpeechActivity:
    """Loudness and speech probability per frame of 32 ms."""

    loudness: NDArray[np.float32]  # root mean square, at the sound's own gain
    speech: NDArray[np.float32]  # 0 to 1

    def __len__(self) -> int:
        return len(self.speech)

    def has_speech(self) -> bool:
        """Return whether anyone could be speaking."""
        return float(self.speech.max(initial=0.0)) >= NEVER

    def is_faint(self) -> bool:
        """Return whether no frame is surely speech: noise, music, or a voice that is hard to hear."""
        return float(self.speech.max(initial=0.0)) < SURE

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Return which frames may be speech, by the detector or by loudness. Cached, since every word needs it."""
        if not len(self):
            return np.zeros(0, np.bool_)
        noise = float(np.percentile(self.loudness, 10))
        return np.asarray((self.speech >= MAYBE) | (self.loudness > max(FLOOR, ABOVE_NOISE * noise)))

    def stretches(self, join_s: float = 0.3) -> list[tuple[float, float]]:
        """Return (start, end) in seconds of speech that should have words, with pauses up to `join_s` included."""
        return _joined(self.speech >= SPOKEN, join_s)

    def audible(self, join_s: float = 0.3) -> list[tuple[float, float]]:
        """Return (start, end) in seconds of what may be speech by the detector or by its loudness.

        A loud stretch in which the detector finds nothing is a knock or a hum.
        """
        stretches = _joined(self.active, join_s)
        return [
            (start, end)
            for start, end in stretches
            if float(self.speech[round(start / FRAME_S) : round(end / FRAME_S)].max(initial=0.0)) >= MAYBE
        ]

    def __getitem__(self, part: slice) -> "SpeechActivity":
        return SpeechActivity(self.loudness[part], self.speech[part])


def _joined(flags: NDArray[np.bool_], join_s: float) -> list[tuple[float, float]]:
    """Return (start, end) in seconds of runs of True, with short gaps between them closed."""
    stretches: list[tuple[float, float]] = []
    for first, last in runs(flags, least=2):
        start, end = float(first * FRAME_S), float(last * FRAME_S)
        if stretches and start - stretches[-1][1] <= join_s:
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    return stretches


def loudness(samples: Samples) -> NDArray[np.float32]:
    """Return the root mean square per frame; the last frame may be shorter."""
    whole_length = len(samples) // FRAME * FRAME
    frames = samples[:whole_length].reshape(-1, FRAME)
    levels: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", frames, frames) / FRAME).astype(np.float32)
    if whole_length == len(samples):
        return levels
    remainder = samples[whole_length:]
    return np.append(levels, np.sqrt(np.mean(remainder * remainder))).astype(np.float32)


def offsets(samples: Samples) -> NDArray[np.float32]:
    """Return the mean per frame. Their median is the offset of a bad sound card: inaudible, but it would hide all
    differences in loudness.
    """
    starts = np.arange(0, len(samples), FRAME)
    lengths = np.diff(np.append(starts, len(samples)))
    return np.asarray(np.add.reduceat(samples, starts) / lengths, np.float32)


def listen(samples: Samples) -> SpeechActivity:
    """Judge a stretch of sound, ideally ten seconds or more. Takes about 0.002 CPU-seconds per second."""
    samples = samples - np.median(offsets(samples)) if len(samples) else samples
    levels = loudness(samples)
    if not len(levels) or float(levels.max()) < FLOOR:
        return SpeechActivity(levels, np.zeros(len(levels), np.float32))
    usual_levels = _usual(levels)
    single_gain = np.clip(TARGET / usual_levels, 1.0, MOST_GAIN).astype(np.float32)
    # Each pass finds what the other loses: a single gain loses the quiet voice beside a loud one, and a gain that
    # follows the voice loses its edges in noise.
    speech = np.maximum(_heard(samples, single_gain), _heard(samples, _gains(levels, usual_levels)))
    return SpeechActivity(levels, np.where(levels < FLOOR, 0.0, speech).astype(np.float32))


def _heard(samples: Samples, gain: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the detector's probability per frame, after each frame's gain is applied."""
    levelled = np.clip(samples * np.repeat(gain, FRAME)[: len(samples)], -1.0, 1.0).astype(np.float32)
    padded_samples = np.pad(levelled, (0, len(gain) * FRAME - len(levelled)))
    return np.asarray(detector()(padded_samples), np.float32).reshape(-1)[: len(gain)]


def _usual(levels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return per frame the level of the louder audible frames, the same for about twenty seconds."""
    parts = np.array_split(levels, -(-len(levels) // USUAL))
    audible_parts = [part[part >= FLOOR] for part in parts]
    usual_levels = [float(np.percentile(audible, 90)) if len(audible) else FLOOR for audible in audible_parts]
    return np.repeat(np.array(usual_levels, np.float32), [len(part) for part in parts])


def _gains(levels: NDArray[np.float32], usual_levels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return slowly changing gains that bring each frame's surroundings to the detector's usual level."""
    loudest = np.maximum(_around(levels, np.max), FLOOR)
    gains = TARGET / np.maximum(loudest, usual_levels / MOST_LIFT)
    return _around(np.clip(gains, 1.0, MOST_GAIN).astype(np.float32), np.mean)


def _around(values: NDArray[np.float32], fold: Callable[..., Any]) -> NDArray[np.float32]:
    """Apply a function to each value's neighbours within about a second on both sides."""
    padded_values = np.pad(values, NEIGHBOURS, mode="edge")
    return np.asarray(
        fold(np.lib.stride_tricks.sliding_window_view(padded_values, 2 * NEIGHBOURS + 1), axis=1), np.float32
    )


def runs(flags: NDArray[np.bool_], *, least: int) -> NDArray[np.int64]:
    """Return rows (first, one past the last) of the runs of True that have at least `least` frames."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    pairs = edges.reshape(-1, 2)
    return np.asarray(pairs[(pairs[:, 1] - pairs[:, 0]) >= least])


@cache
def detector() -> Any:
    from faster_whisper.vad import get_vad_model

    return get_vad_model()
