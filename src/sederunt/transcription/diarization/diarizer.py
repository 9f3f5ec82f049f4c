"""Who speaks when in one track with several people: judged as a whole, read once, in bounded memory."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.errors import Cancelled
from sederunt.transcription.diarization import segmentation
from sederunt.transcription.diarization.clustering import clustered
from sederunt.transcription.diarization.passages import Hear, passages
from sederunt.transcription.diarization.segmentation import FIRST_S, FRAME_S, RATE
from sederunt.transcription.diarization.voice_stretches import Cutter, HearsVoice, Samples, VoiceStretch
from sederunt.transcription.whisper.live.detector import SpeechDetector

# A pause shorter than this does not end a voice's span.
PAUSE_S = 0.3
# Seconds of sound that are processed at once.
BLOCK_S = 5


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
    """One voice without a longer pause. Seconds of the sound; voices are numbered from 0 in order of first speech."""

    start: float
    end: float
    voice: int


def diarize(
    ears: Ears, source: Source, *, cancelled: threading.Event | None = None, pause: Pause = lambda: None
) -> list[VoiceSpan]:
    """Find who speaks when, in order of start; spans of two voices may overlap.

    `pause` is called every few seconds of sound, so that others can have the core. Raises Cancelled once `cancelled`
    is set.
    """
    stretches = list(stretches_of(ears, _in_turns(source(0.0), cancelled, pause), SpeechDetector().hear))
    return spans(stretches, clustered(stretches))


def stretches_of(ears: Ears, blocks: Iterable[Samples], hear: Hear) -> Iterator[VoiceStretch]:
    """Yield the stretches that the networks find in blocks of sound, in order of time."""
    cutter = Cutter(ears)
    for passage in passages(blocks, hear):
        active = segmentation.active(ears.classes(passage.samples))
        speech = passage.spoken_at(FIRST_S + FRAME_S * np.arange(len(active)))
        yield from cutter.add(passage.start_s, passage.samples, active & speech[:, None])


def spans(
    stretches: Sequence[VoiceStretch], labels: Sequence[tuple[int, ...]], numbers: dict[int, int] | None = None
) -> list[VoiceSpan]:
    """Return the spans of single voices, from stretches and the labels of who speaks in each.

    `numbers` maps labels to voice numbers assigned so far; new voices are added to it.
    """
    numbers = {} if numbers is None else numbers
    last_places: dict[int, int] = {}
    voice_spans: list[VoiceSpan] = []
    for stretch, stretch_labels in zip(stretches, labels, strict=True):
        for label in stretch_labels:
            voice = numbers.setdefault(label, len(numbers))
            place = last_places.get(voice)
            if place is not None and stretch.start - voice_spans[place].end < PAUSE_S:
                voice_spans[place] = replace(voice_spans[place], end=stretch.end)
            else:
                last_places[voice] = len(voice_spans)
                voice_spans.append(VoiceSpan(start=stretch.start, end=stretch.end, voice=voice))
    return voice_spans


def _in_turns(blocks: Iterable[SampleBlock], cancelled: threading.Event | None, pause: Pause) -> Iterator[Samples]:
    """Yield the sound in blocks of some seconds, with a pause after each. Raises Cancelled."""
    buffer, block_length = np.zeros(0, np.float32), BLOCK_S * RATE
    for block in blocks:
        if cancelled is not None and cancelled.is_set():
            raise Cancelled("The transcription was stopped.")
        buffer = np.concatenate([buffer, block.samples])
        while len(buffer) >= block_length:
            yield buffer[:block_length]
            buffer = buffer[block_length:]
            pause()
    yield buffer
