"""From regions to stretches: time cut wherever anyone begins or ends, each with the voice of whoever spoke in it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization import segmentation
from sederunt.transcription.diarization.segmentation import FRAME, FRAMES, RATE, FrameRegion

Samples = NDArray[np.float32]
Vector = NDArray[np.float32]

# Pauses within a stretch of one person; whoever goes on after a longer one may be somebody else.
PAUSE_FRAMES = 12
# Two at once, or nobody, for so few frames is an error at the border between two people.
GLITCH_FRAMES = 3
# A voice is taken from so much of a stretch at most, at least so much, and from so much of all stretches of a region.
MOST_S, LEAST_S, REGION_S = 2.0, 0.6, 3.5
# A stretch is heard at both ends where it is so long; it is two where they are so little alike.
BOTH_ENDS_S, UNLIKE = 4.5, 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class VoiceStretch:
    """The same people speak all the time, short pauses included. Seconds of the sound."""

    start: float
    end: float
    threads: tuple[int, ...]  # one, or two at once
    voice: Vector | None = None  # of length 1; of one person alone, where it was long enough to be heard
    heard_s: float = 0.0  # how much sound the voice was taken from

    def joined(self, after: "VoiceStretch") -> "VoiceStretch":
        """Return this one with what follows it."""
        heard_s = self.heard_s + after.heard_s
        voice: Vector | None = self.voice if after.voice is None else after.voice
        if self.voice is not None and after.voice is not None:
            voice = unit(self.voice * self.heard_s + after.voice * after.heard_s)
        return replace(self, end=after.end, voice=voice, heard_s=heard_s)


class HearsVoice(Protocol):
    """Who takes a voice from sound."""

    def voice(self, samples: Samples) -> Vector: ...


@dataclass(slots=True)
class Cutter:
    """Takes regions in order, and the windows they came from."""

    networks: HearsVoice
    _sounds: list[tuple[int, Samples]] = field(default_factory=list)
    _held: VoiceStretch | None = None  # goes on, perhaps, in the next region

    def remember(self, first: int, samples: Samples) -> None:
        """Keep a window's sound, by its first frame."""
        self._sounds = [*self._sounds[-1:], (first, samples)]

    def add(self, region: FrameRegion) -> Iterator[VoiceStretch]:
        """Yield the stretches that are settled by a region."""
        for stretch in self._heard(region):
            held = self._held
            if held is not None and _goes_on(held, stretch):
                self._held = held.joined(stretch)
                continue
            if held is not None:
                yield held
            self._held = stretch

    def end(self) -> Iterator[VoiceStretch]:
        if self._held is not None:
            yield self._held

    def _heard(self, region: FrameRegion) -> Iterator[VoiceStretch]:
        runs = _runs(region.active)
        takes = shares([(last - first) * FRAME / RATE if len(who) == 1 else 0.0 for first, last, who in runs])
        for (first, last, who), take in zip(runs, takes, strict=True):
            threads = tuple(sorted(region.threads[voice] for voice in who))
            begin, end = region.first + first, region.first + last
            whole = VoiceStretch(start=segmentation.moment(begin), end=segmentation.moment(end), threads=threads)
            if take < LEAST_S:
                yield whole
            elif whole.end - whole.start < BOTH_ENDS_S:
                yield replace(whole, voice=self.networks.voice(self._middle(begin, end, take)), heard_s=take)
            else:
                yield from self._both_ends(whole, begin, end, take / 2)

    def _both_ends(self, whole: VoiceStretch, begin: int, end: int, take: float) -> Iterator[VoiceStretch]:
        middle = (begin + end) // 2
        reach = round((BOTH_ENDS_S / 2) * RATE / FRAME)
        one = self.networks.voice(self._middle(begin, begin + reach, take))
        other = self.networks.voice(self._middle(end - reach, end, take))
        cut = segmentation.moment(middle)
        first = replace(whole, end=cut, voice=one, heard_s=take)
        second = replace(whole, start=cut, voice=other, heard_s=take)
        if float(one @ other) < UNLIKE:
            yield first
            yield second
        else:
            yield first.joined(second)

    def _middle(self, begin: int, end: int, seconds: float) -> Samples:
        """So much sound from the middle of these frames."""
        first, samples = next((f, s) for f, s in self._sounds if f <= begin and end <= f + FRAMES)
        spare = max(0, (end - begin) * FRAME - round(seconds * RATE)) // 2
        at = (begin - first) * FRAME + round(segmentation.FIRST_S * RATE) - FRAME // 2 + spare
        return samples[at : at + round(seconds * RATE)]


def _goes_on(held: VoiceStretch, after: VoiceStretch) -> bool:
    if held.threads != after.threads or after.start - held.end > PAUSE_FRAMES * FRAME / RATE:
        return False
    return held.voice is None or after.voice is None or float(held.voice @ after.voice) >= UNLIKE


def shares(lengths: list[float]) -> list[float]:
    """Return how much of each stretch a voice is taken from (seconds): evenly, within what a region may cost."""
    found = [0.0] * len(lengths)
    wanted = [n for n in sorted(range(len(lengths)), key=lambda n: lengths[n]) if lengths[n] >= LEAST_S]
    left = REGION_S
    while wanted and left / len(wanted) < LEAST_S:
        wanted.pop(0)
    for place, n in enumerate(wanted):
        most = MOST_S if lengths[n] < BOTH_ENDS_S else 1.5 * MOST_S
        found[n] = min(lengths[n], most, left / (len(wanted) - place))
        left -= found[n]
    return found


def _runs(active: NDArray[np.bool_]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(first, one past the last, voices) wherever somebody speaks; glitches and short pauses closed."""
    codes = (active * (1 << np.arange(active.shape[1]))).sum(axis=1)
    edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    raw = [(a, b, int(codes[a])) for a, b in itertools.pairwise(edges) if b > a]
    runs: list[tuple[int, int, int]] = []
    for n, (first, last, code) in enumerate(raw):
        if not code:
            continue
        neighbours = [raw[m][2] for m in (n - 1, n + 1) if 0 <= m < len(raw)]
        if code.bit_count() > 1 and last - first <= GLITCH_FRAMES and runs and any(c & code for c in neighbours):
            begin, _, before = runs[-1]
            if before & code:
                runs[-1] = (begin, last, before)
                continue
        if runs and runs[-1][2] == code and first - runs[-1][1] <= PAUSE_FRAMES:
            runs[-1] = (runs[-1][0], last, code)
        else:
            runs.append((first, last, code))
    return [(first, last, tuple(v for v in range(active.shape[1]) if code >> v & 1)) for first, last, code in runs]


def unit(vector: Vector) -> Vector:
    """Return a vector of length 1 in the same direction."""
    return np.asarray(vector / (np.linalg.norm(vector) + 1e-9), np.float32)
