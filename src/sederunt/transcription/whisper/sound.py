"""A source of samples, read once from front to back in bounded memory; silence goes by at almost no cost."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Protocol

import numpy as np

from sederunt.transcription.whisper.speech import FLOOR, FRAME, RATE, Samples, loudness

# Kept before the first audible sample, so that a soft beginning stays whole.
LEAD_S = 0.5
_SCAN, _SCANS = 10 * RATE, 6  # samples looked at in one go, and how often without a pause


class PcmBlock(Protocol):
    """What `media.pcm` yields: mono samples at 16 kHz, -1 to 1, and where they lie in the source."""

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
        """Return where the rest begins."""
        return self._first / RATE

    def look(self, seconds: float) -> tuple[Samples, bool]:
        """Return up to so many seconds of the rest, and whether that is all there is."""
        length = round(seconds * RATE)
        self._fill(length)
        return self._buffer[:length], self._waiting is None and len(self._buffer) <= length

    def skip(self, seconds: float) -> None:
        """Go forward within what was looked at."""
        length = min(len(self._buffer), max(0, round(seconds * RATE)))
        self._buffer = self._buffer[length:]
        self._first += length

    def skip_silence(self, pause: Callable[[], None] = lambda: None) -> None:
        """Go to just before the next audible sample, or to the end. A second call right behind it goes nowhere.

        `pause` is called now and then: hours of silence take seconds to decode, and others may want the core.
        """
        lead = round(LEAD_S * RATE)
        for scans in count(1):
            if scans % _SCANS == 0:
                pause()
            if not len(self._buffer) and self._waiting and self._waiting[0] > self._first:
                self._first = max(self._first, self._waiting[0] - lead)  # nothing was sent: nothing to look at
            self._fill(_SCAN)
            if not len(self._buffer):
                return
            audible_frames = np.flatnonzero(loudness(self._buffer[:_SCAN]) >= FLOOR)
            if len(audible_frames):
                if (ahead := int(audible_frames[0]) * FRAME - lead) >= FRAME:
                    self._drop(ahead)
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
            # A block that begins before the last one's end (a seek to a key frame, rounding) gives only what is new.
            new_samples = samples[max(0, -gap) :] if -gap > FRAME else samples
            parts.append(new_samples)
            filled += len(new_samples)
            self._take_block()
        if len(parts) > 1:
            self._buffer = np.concatenate(parts)

    def _take_block(self) -> None:
        block = next(self._blocks, None)
        self._waiting = None if block is None else (round(block.start_s * RATE), block.samples)
