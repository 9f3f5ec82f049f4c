"""Cuts a source into sections that several cores can read independently.

Each window begins where the one before it ended, so windows alone form a chain. Sections are cut in pauses, at places
that depend only on the sound, not on the number of readers, their order, or a restart.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.whisper import speech, windows
from sederunt.transcription.whisper.sound import PcmSource, UnreadSound
from sederunt.transcription.whisper.speech import RATE, Samples

# A section ends in the best pause after each line; lines are this far apart. Shorter sections cost words at their
# ends, longer ones memory (4 bytes a sample) and idle cores at the end of a recording.
LINES_S = 120.0
# How far after the line a pause is searched, and after how many lines without one the cut is made anywhere.
PAUSE_WITHIN_S, MOST_LINES = 18.0, 3
# Stored moments closer than this count as the same.
SAME_S = 0.02


@dataclass(frozen=True, slots=True)
class SoundBlock:
    """Samples, and their position in the source."""

    start_s: float
    samples: Samples


@dataclass(frozen=True, slots=True)
class SoundSection:
    """A stretch of a source. Seconds of the source."""

    start_s: float  # the end of the previous section; silence from here to the block
    end_s: float
    block: SoundBlock

    def source(self, _start_s: float) -> Iterator[SoundBlock]:
        """Yield the sound; a `PcmSource`."""
        yield self.block


class Sections:
    """The sections of a source from a moment on, in order; the source is read once.

    Args:
        known: starts of sections from an earlier try, in order; the next of them is always a cut, so that sound read
            after it is not read again, wherever this try begins.
    """

    def __init__(self, source: PcmSource, start_s: float = 0.0, *, known: Sequence[float] = ()) -> None:
        self._sound = UnreadSound(source, start_s)
        self._known = known
        self._ended_s = self._sound.position_s  # the section before
        self.over = False  # the source ended, known without asking for another section

    def next(self, pause: Callable[[], None] = lambda: None) -> SoundSection | None:
        """Return the next section; None at the end of the source. `pause` is called during a long silence."""
        start_s, sound = self._ended_s, self._sound
        sound.skip_silence(pause)
        first_s = sound.position_s
        border_s = next((known_s for known_s in self._known if known_s > start_s + SAME_S), None)
        if border_s is not None and border_s <= first_s:  # only silence between the two
            samples, self._ended_s = np.zeros(0, np.float32), border_s
            return SoundSection(start_s, border_s, SoundBlock(border_s, samples))
        samples = self._until_cut(first_s, border_s)
        if not len(samples) and start_s == first_s:
            return None
        block = SoundBlock(first_s, np.array(samples))
        sound.skip(len(samples) / RATE)
        self._ended_s = sound.position_s
        return SoundSection(start_s, self._ended_s, block)

    def _until_cut(self, first_s: float, border_s: float | None) -> Samples:
        """Return the sound up to the next known border, or to the best pause after a line."""
        line = math.floor(first_s / LINES_S)
        for _ in range(MOST_LINES):
            line += 1
            span_s = line * LINES_S - first_s
            if border_s is not None and border_s <= line * LINES_S + PAUSE_WITHIN_S:
                samples, self.over = self._sound.look(border_s - first_s)
                return samples
            samples, self.over = self._sound.look(span_s + PAUSE_WITHIN_S)
            if self.over:
                break
            pause_s = windows.best_pause(speech.listen(samples[round(span_s * RATE) :]))
            if pause_s is not None:
                return samples[: round((span_s + pause_s) * RATE)]
        return samples


def covered(parts: Iterable[FinishedPart]) -> list[tuple[float, float]]:
    """Return the stretches of a source that finished parts cover, merged and in order."""
    stretches: list[tuple[float, float]] = []
    for part in sorted(parts, key=lambda part: part.start):
        if stretches and part.start - stretches[-1][1] <= SAME_S:
            stretches[-1] = (stretches[-1][0], max(stretches[-1][1], part.end))
        else:
            stretches.append((part.start, part.end))
    return stretches


def reached(stretches: Sequence[tuple[float, float]], at_s: float) -> float:
    """Return the end of the stretch that covers a moment, or the moment itself."""
    return next((end for start, end in stretches if start - SAME_S <= at_s < end), at_s)
