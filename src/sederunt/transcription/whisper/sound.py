"""A source of samples, read once from start to end in bounded memory; silence is skipped at almost no cost."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Protocol

import numpy as np

from sederunt.transcription.whisper.speech import FLOOR, FRAME, RATE, Samples, loudness

# Sound before the first audible sample that is kept, so that a soft beginning stays complete.
LEAD_S = 0.5
_SCAN, _SCANS = 10 * RATE, 6  # samples scanned at once, and scans without a pause


class PcmBlock(Protocol):
    """What `media.pcm` yields: mono samples at 16 kHz, -1 to 1, and their position in the source."""

    @property
    def start_s(self) -> float: ...

    @property
    def samples(self) -> Samples: ...


# Opens the source at a moment (seconds) and yields its blocks in order; time that no block covers is silence.
PcmSource = Callable[[float], Iterable[PcmBlock]]


class UnreadSound:
    """The unread rest of a source."""

    def __init__(self, source: PcmSource, start_s: float = 0.0) -> None:
        self._blocks = iter(source(start_s))
        self._first = round(start_s * RATE)  # where the buffer begins, in samples from the start of the source
        self._buffer: Samples = np.zeros(0, np.float32)
        self._waiting: tuple[int, Samples] | None = None
        self._take_block()

    @property
    def position_s(self) -> float:
        """Return where the unread rest begins."""
        return self._first / RATE

    def look(self, seconds: float) -> tuple[Samples, bool]:
        """Return up to so many seconds of the rest, and whether that is all of it."""
        length = round(seconds * RATE)
        self._fill(length)
        return self._buffer[:length], self._waiting is None and len(self._buffer) <= length

    def skip(self, seconds: float) -> None:
        """Advance within the sound that was looked at."""
        length = min(len(self._buffer), max(0, round(seconds * RATE)))
        self._buffer = self._buffer[length:]
        self._first += length

    def skip_silence(self, pause: Callable[[], None] = lambda: None) -> None:
        """Go to just before the next audible sample, or to the end. A second call in a row has no effect.

        `pause` is called now and then: hours of silence take seconds to decode, and others may need the core.
        """
        lead = round(LEAD_S * RATE)
        for scans in count(1):
            if scans % _SCANS == 0:
                pause()
            if not len(self._buffer) and self._waiting and self._waiting[0] > self._first:
                self._first = max(self._first, self._waiting[0] - lead)  # a gap between blocks needs no scan
            self._fill(_SCAN)
            if not len(self._buffer):
                return
            audible_frames = np.flatnonzero(loudness(self._buffer[:_SCAN]) >= FLOOR)
            if len(audible_frames):
                if (silent_samples := int(audible_frames[0]) * FRAME - lead) >= FRAME:
                    self._drop(silent_samples)
                return
            at_end = self._waiting is None and len(self._buffer) <= _SCAN
            self._drop(len(self._buffer) if at_end else min(len(self._buffer), _SCAN) - lead)

    def _drop(self, length: int) -> None:
        length = max(0, length)
        self._buffer = self._buffer[length:]
        self._first += length

    def _fill(self, length: int) -> None:
        parts, filled = [self._buffer], len(self._buffer)
        while filled < length and self._waiting is not None:
            start, samples = self._waiting
            gap = start - (self._first + filled)
            if gap > FRAME:
                parts.append(np.zeros(min(gap, length - filled), np.float32))
                filled += len(parts[-1])
                continue
            # A block that begins before the last one's end (a seek to a key frame, rounding) adds only its new samples.
            new_samples = samples[max(0, -gap) :] if -gap > FRAME else samples
            parts.append(new_samples)
            filled += len(new_samples)
            self._take_block()
        if len(parts) > 1:
            self._buffer = np.concatenate(parts)

    def _take_block(self) -> None:
        block = next(self._blocks, None)
        self._waiting = None if block is None else (round(block.start_s * RATE), block.samples)
