"""A source cut into sections that are read independently of each other, so that several cores can.

A window begins where the one before it ended, so windows alone are a chain. Sections are cut where somebody pauses,
at places that depend on the sound alone: neither how many read, nor in which order, nor a restart moves them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.whisper import speech, windows
from sederunt.transcription.whisper.sound import PcmSource, UnreadSound
from sederunt.transcription.whisper.speech import RATE, Samples

# A section ends in the best pause behind each line; lines lie so far apart. Shorter ones cost words at their ends,
# longer ones memory (4 bytes a sample) and cores that have nothing to do at the end of a recording.
LINES_S = 120.0
# How far behind the line a pause is looked for, and how many lines may go by without one: then the cut is anywhere.
PAUSE_WITHIN_S, MOST_LINES = 18.0, 3
# Stored moments that lie so close together are one.
SAME_S = 0.02


@dataclass(frozen=True, slots=True)
class SoundBlock:
    """Samples, and where they lie in the source."""

    start_s: float
    samples: Samples


@dataclass(frozen=True, slots=True)
class SoundSection:
    """A stretch of a source. Seconds of the source."""

    start_s: float  # the end of the one before it; nothing sounds between here and the block
    end_s: float
    block: SoundBlock

    def source(self, _start_s: float) -> Iterator[SoundBlock]:
        """Yield the sound, as `PcmSource`."""
        yield self.block


class Sections:
    """The sections of a source from a moment on, in order; the source is read once.

    Args:
        known: where sections began in an earlier try; a cut that lies at one of them is made there exactly.
    """

    def __init__(self, source: PcmSource, start_s: float = 0.0, *, known: Sequence[float] = ()) -> None:
        self._sound = UnreadSound(source, start_s)
        self._known = known
        self.over = False  # known without asking for another

    def next(self) -> SoundSection | None:
        """Return the next section; None at the end of the source."""
        sound = self._sound
        start_s = sound.position_s
        sound.skip_silence()
        first_s = sound.position_s
        line = math.floor(first_s / LINES_S)
        for _ in range(MOST_LINES):
            line += 1
            span_s = line * LINES_S - first_s
            samples, last = sound.look(span_s + PAUSE_WITHIN_S)
            if last:
                self.over = True
                break
            pause_s = self._pause(line * LINES_S, samples[round(span_s * RATE) :])
            if pause_s is not None:
                samples = samples[: round((span_s + pause_s) * RATE)]
                break
        if not len(samples) and start_s == first_s:
            return None
        block = SoundBlock(first_s, np.array(samples))
        sound.skip(len(samples) / RATE)
        return SoundSection(start_s, sound.position_s, block)

    def _pause(self, line_s: float, behind: Samples) -> float | None:
        """Return how far behind a line the cut is; None where nobody pauses there."""
        for known_s in self._known:
            if line_s <= known_s <= line_s + PAUSE_WITHIN_S:
                return known_s - line_s
        return windows.best_pause(speech.listen(behind))


def covered(parts: Iterable[FinishedPart]) -> list[tuple[float, float]]:
    """Return the stretches of a source that finished parts cover, joined, in order."""
    found: list[tuple[float, float]] = []
    for part in sorted(parts, key=lambda part: part.start):
        if found and part.start - found[-1][1] <= SAME_S:
            found[-1] = (found[-1][0], max(found[-1][1], part.end))
        else:
            found.append((part.start, part.end))
    return found


def reached(stretches: Sequence[tuple[float, float]], at_s: float) -> float:
    """Return up to where all is covered from a moment on: the moment itself where nothing is."""
    return next((end for start, end in stretches if start - SAME_S <= at_s < end), at_s)
