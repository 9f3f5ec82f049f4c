"""Finds speech as the sound arrives: by the batch engine's detector, with its state kept, and by loudness.

The detector misses some voices: of a group recorded from afar it heard 27 % at any gain. So sound that stands out from
a stream's own noise counts as well.

A lower level raises the gain by a factor of two in three seconds, a higher one reduces it at once. So a voice at a
twentieth of its level is detected like the same voice (missed speech 35 %, at 0.3, on seven excerpts of meetings,
either way; without gain 36 and 39).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.whisper.speech import (
    ABOVE_NOISE,
    FLOOR,
    FRAME,
    FRAME_S,
    MOST_GAIN,
    TARGET,
    Samples,
    detector,
    loudness,
    offsets,
)

_BEFORE = 64  # samples of the previous frame that the network sees again
_RELEASE = 0.5 ** (FRAME_S / 3.0)
# The stream's noise is the quietest tenth of the last _REMEMBERED frames; with fewer than _LEAST of them nothing is
# loud. Frames below the share _TAIL of the loudest tenth are the tail of a voice, and fewer than _LASTING loud frames
# of _OF are a click.
_REMEMBERED, _LEAST = round(8.0 / FRAME_S), round(1.0 / FRAME_S)
_TAIL, _OF, _LASTING = 0.1, 10, 8


@dataclass(frozen=True, slots=True)
class Hearing:
    """What the detector and loudness tell, per frame of 32 ms."""

    speech: NDArray[np.float32]  # the detector's probability
    loud: NDArray[np.bool_]  # whether it stands out from the stream's noise, as the frames before it do

    def __len__(self) -> int:
        return len(self.speech)

    def __getitem__(self, part: slice) -> Self:
        return type(self)(self.speech[part], self.loud[part])

    def then(self, following: Self) -> Self:
        """Return this followed by another one."""
        return type(self)(np.concatenate([self.speech, following.speech]), np.concatenate([self.loud, following.loud]))

    def sounding(self, threshold: float) -> NDArray[np.bool_]:
        """Return which frames are loud, or speech with at least this probability."""
        return np.asarray((self.speech >= threshold) | self.loud)


def silence(frames: int) -> Hearing:
    """Return so many frames of silence."""
    return Hearing(np.zeros(frames, np.float32), np.zeros(frames, np.bool_))


NOTHING = silence(0)


class SpeechDetector:
    """Listens to one stream."""

    def __init__(self) -> None:
        self._state = [np.zeros((1, 1, 128), np.float32) for _ in range(2)]
        self._before = np.zeros(_BEFORE, np.float32)
        self._offsets = np.zeros(0, np.float32)  # the latest
        self._level = FLOOR
        self._levels = np.zeros(0, np.float32)  # the latest, nothing below what is audible
        self._stood_out = np.zeros(_OF - 1, np.bool_)  # the latest frames

    def hear(self, samples: Samples) -> Hearing:
        """Judge whole frames. Takes about 0.0015 CPU-seconds per second."""
        levels = loudness(samples)
        if float(levels.max()) < FLOOR:
            self._stood_out[:] = False
            self._remember(levels[levels > 0.0])  # digital silence is omitted sound, not a sender's noise
            return silence(len(levels))
        frames = self._without_offset(samples.reshape(-1, FRAME), levels > 0.0)
        levels = loudness(frames.reshape(-1))
        return Hearing(self._speech(frames, levels), self._loud(levels))

    def _without_offset(self, frames: Samples, sounding: NDArray[np.bool_]) -> Samples:
        """Return frames without a sound card's offset; digital silence is left as it is."""
        self._offsets = np.concatenate([self._offsets, offsets(frames.reshape(-1))[sounding]])[-_REMEMBERED:]
        offset = np.float32(np.median(self._offsets))
        return np.where(sounding[:, None], frames - offset, np.float32(0.0))

    def _loud(self, levels: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return which frames stand out from the stream's noise for more than a moment."""
        self._remember(levels[levels > 0.0])
        if not len(self._levels):  # only a sound card's offset so far
            return np.zeros(len(levels), np.bool_)
        tenth = len(self._levels) // 10
        partitioned = np.partition(self._levels, (tenth, -tenth - 1))
        threshold = max(ABOVE_NOISE * float(partitioned[tenth]), _TAIL * float(partitioned[-tenth - 1]))
        stands_out = np.concatenate([self._stood_out, levels > threshold])
        self._stood_out = stands_out[-_OF + 1 :]
        if len(self._levels) < _LEAST:
            return np.zeros(len(levels), np.bool_)
        lasting = np.convolve(stands_out, np.ones(_OF), "valid") >= _LASTING
        return np.asarray(lasting & (levels > threshold))

    def _remember(self, levels: NDArray[np.float32]) -> None:
        self._levels = np.concatenate([self._levels, np.maximum(levels, FLOOR)])[-_REMEMBERED:]

    def _speech(self, frames: Samples, levels: NDArray[np.float32]) -> NDArray[np.float32]:
        gains = np.empty(len(levels), np.float32)
        for n, level in enumerate(levels):
            self._level = max(float(level), self._level * _RELEASE, FLOOR)
            gains[n] = min(MOST_GAIN, max(1.0, TARGET / self._level))
        levelled = np.clip(frames * gains[:, None], -1.0, 1.0)
        preceding = np.concatenate([self._before[None], levelled[:-1, -_BEFORE:]])
        self._before = levelled[-1, -_BEFORE:].copy()
        inputs = {"input": np.concatenate([preceding, levelled], axis=1).astype(np.float32)}
        output, *self._state = detector().session.run(None, {**inputs, "h": self._state[0], "c": self._state[1]})
        return np.where(levels < FLOOR, 0.0, np.asarray(output).reshape(-1)).astype(np.float32)
