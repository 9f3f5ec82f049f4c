"""Who speaks when in sound with several people in one track: judged as a whole, read once, in bounded memory."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.errors import Cancelled
from sederunt.transcription.diarization import segmentation
from sederunt.transcription.diarization.clustering import clustered
from sederunt.transcription.diarization.segmentation import FRAME, FRAMES, WINDOW, Stitcher
from sederunt.transcription.diarization.stretches import Cutter, HearsVoice, Samples, VoiceStretch

# Frames from one window to the next: two seconds are heard twice.
HOP = 480
# Quieter than this (about -84 dBFS) is digital silence: no network is asked.
FLOOR = 0.00006
# A pause shorter than this does not end what a voice says.
PAUSE_S = 0.3

_NOBODY = np.zeros((FRAMES, segmentation.VOICES), np.bool_)


class SampleBlock(Protocol):
    """What `media.pcm` yields: mono samples at 16 kHz."""

    @property
    def samples(self) -> Samples: ...


class Ears(HearsVoice, Protocol):
    """Both networks."""

    def classes(self, samples: Samples) -> NDArray[np.float32]: ...


Pause = Callable[[], None]

# Opens the sound at a moment (seconds) and yields its blocks in order, without a gap.
Source = Callable[[float], Iterable[SampleBlock]]


@dataclass(frozen=True, kw_only=True, slots=True)
class VoiceSpan:
    """One voice without a longer pause. Seconds of the sound; voices are counted from 0 by when they begin."""

    start: float
    end: float
    voice: int


def diarize(
    ears: Ears, source: Source, *, cancelled: threading.Event | None = None, pause: Pause = lambda: None
) -> list[VoiceSpan]:
    """Find out who speaks when, by begin; spans of two voices may overlap. Raises Cancelled once `cancelled` is set.

    `pause` is called between windows, for others may want the core.
    """
    found = list(stretches_of(ears, source, cancelled=cancelled, pause=pause))
    return spans(found, clustered(found))


def stretches_of(
    ears: Ears, source: Source, *, cancelled: threading.Event | None = None, pause: Pause = lambda: None
) -> Iterator[VoiceStretch]:
    """Yield what the networks hear, in order of time."""
    stitcher, cutter = Stitcher(), Cutter(ears)
    for first, samples in _windows(source):
        if cancelled is not None and cancelled.is_set():
            raise Cancelled("The transcription was stopped.")
        cutter.remember(first, samples)
        silent = float(np.abs(samples).max(initial=0.0)) < FLOOR
        activity = _NOBODY if silent else segmentation.active(ears.classes(samples))
        for region in stitcher.add(first, activity):
            yield from cutter.add(region)
        pause()
    for region in stitcher.end():
        yield from cutter.add(region)
    yield from cutter.end()


def spans(found: Sequence[VoiceStretch], labels: Sequence[tuple[int, ...]]) -> list[VoiceSpan]:
    """Return stretches and who speaks in each, as spans of one voice."""
    numbers: dict[int, int] = {}
    last: dict[int, int] = {}
    told: list[VoiceSpan] = []
    for stretch, who in zip(found, labels, strict=True):
        for label in who:
            voice = numbers.setdefault(label, len(numbers))
            at = last.get(voice)
            if at is not None and stretch.start - told[at].end < PAUSE_S:
                told[at] = replace(told[at], end=stretch.end)
            else:
                last[voice] = len(told)
                told.append(VoiceSpan(start=stretch.start, end=stretch.end, voice=voice))
    return told


def _windows(source: Source) -> Iterator[tuple[int, Samples]]:
    """(first frame, samples) of windows that lie `HOP` frames apart; the last is filled up with silence."""
    buffer, first, step = np.zeros(0, np.float32), 0, HOP * FRAME
    for block in source(0.0):
        buffer = np.concatenate([buffer, block.samples])
        while len(buffer) >= WINDOW:
            yield first, buffer[:WINDOW]
            buffer = buffer[step:]
            first += HOP
    if len(buffer) > (WINDOW - step if first else 0):
        yield first, np.pad(buffer, (0, WINDOW - len(buffer)))
