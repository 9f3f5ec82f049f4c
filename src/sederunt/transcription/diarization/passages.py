"""Cut sound at the pauses of the speech detector into passages, the windows of the segmentation network.

Short windows that end in pauses serve that network better than ten seconds with four people: it tells only three
apart. The detector also finds the start and end of speech more exactly. Pure, except for the detector's state.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.whisper.live.detector import NOTHING, Hearing
from sederunt.transcription.whisper.live.track import best_pause
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, RATE, Samples, runs

Hear = Callable[[Samples], Hearing]
Flags = NDArray[np.bool_]

# Detector probabilities: two frames above the first open a passage, frames above the second keep it open.
OPENS, HOLDS = 0.4, 0.3
# Frames: the silence that ends a passage, the shorter silence that ends it once it is LONG, and the longest passage.
ENDS, ENDS_LONG, LONG, LONGEST = (round(seconds / FRAME_S) for seconds in (0.4, 0.22, 8.0, 9.3))
# Frames added before and after a passage, as many as end it: the network judges borders by their surroundings.
BESIDE = ENDS
# Pauses up to this length (frames) count as speech within a passage.
PAUSE = round(0.3 / FRAME_S)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenPassage:
    """Speech between two pauses, with a little of each pause."""

    first: int  # its first sample in the sound
    samples: Samples
    speech: Flags  # per detector frame: whether somebody speaks, by its probability or by loudness

    @property
    def start_s(self) -> float:
        return self.first / RATE

    def spoken_at(self, moments: NDArray[np.floating]) -> Flags:
        """Return whether somebody speaks at these moments, in seconds of the passage."""
        places = np.clip((moments / FRAME_S).astype(np.int64), 0, len(self.speech) - 1)
        return np.asarray(self.speech[places])


def passages(blocks: Iterable[Samples], hear: Hear) -> Iterator[SpokenPassage]:
    """Yield the passages in blocks of sound, in order; an incomplete last frame is padded with silence."""
    first, sound, hearing = 0, np.zeros(0, np.float32), NOTHING
    remainder = np.zeros(0, np.float32)
    for samples in chain(blocks, [None]):
        is_last = samples is None
        remainder = (
            np.pad(remainder, (0, -len(remainder) % FRAME)) if samples is None else np.concatenate([remainder, samples])
        )
        whole_frames, remainder = np.split(remainder, [len(remainder) // FRAME * FRAME])
        if len(whole_frames):
            sound, hearing = np.concatenate([sound, whole_frames]), hearing.then(hear(whole_frames))
        while (cut := next_cut(hearing.sounding(HOLDS), ended=is_last)) is not None:
            begin, end = cut
            if _is_speech(hearing[begin:end]):
                yield _passage(first, sound, hearing.sounding(HOLDS), begin, end)
            first, sound, hearing = first + end * FRAME, sound[end * FRAME :], hearing[end:]
        silent_frames = _silent(hearing.sounding(HOLDS))
        first, sound, hearing = first + silent_frames * FRAME, sound[silent_frames * FRAME :], hearing[silent_frames:]


def next_cut(sounding: Flags, *, ended: bool) -> tuple[int, int] | None:
    """Return (first, one past the last) frame of the first passage, or None while its end is not known."""
    begin = end = None
    for first, last in runs(sounding, least=2).tolist():
        if begin is None or end is None:
            begin = first
        elif first - end >= (ENDS_LONG if end - begin >= LONG else ENDS):
            break
        end = last
        if end - begin > LONGEST:
            if not ended and len(sounding) < begin + LONGEST + BESIDE:
                return None
            return begin, begin + (best_pause(sounding[begin : begin + LONGEST]) or LONGEST)
    if begin is None or end is None:
        return None
    # One frame more, because the last frame may be the first of two.
    return (begin, end) if ended or len(sounding) - end > BESIDE else None


def closed(speech: Flags, pause: int = PAUSE) -> Flags:
    """Return flags with short pauses between speech filled."""
    filled = speech.copy()
    for first, last in runs(~speech, least=1).tolist():
        if first > 0 and last < len(speech) and last - first <= pause:
            filled[first:last] = True
    return filled


def _passage(first: int, sound: Samples, sounding: Flags, begin: int, end: int) -> SpokenPassage:
    start, stop = max(0, begin - BESIDE), min(len(sounding), end + BESIDE)
    speech = np.zeros(stop - start, np.bool_)
    speech[begin - start : end - start] = closed(sounding[begin:end])
    samples = sound[start * FRAME : stop * FRAME]
    return SpokenPassage(first=first + start * FRAME, samples=samples, speech=speech)


def _is_speech(hearing: Hearing) -> bool:
    return max(int((hearing.speech >= OPENS).sum()), int(hearing.loud.sum())) >= 2


def _silent(sounding: Flags) -> int:
    """Return how many leading frames no later passage needs."""
    sounds = runs(sounding, least=2)
    begin = int(sounds[0, 0]) if len(sounds) else len(sounding) - 1  # the last frame may be the first of two
    return max(0, begin - BESIDE)
