"""Cut passages into stretches wherever somebody starts or stops speaking, each with the voices in it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.segmentation import FIRST_S, FRAME, RATE, VOICES, Activity, moment

Samples = NDArray[np.float32]
Vector = NDArray[np.float32]

# Longest pause within a stretch of one person; after a longer one, somebody else may speak.
PAUSE_FRAMES = 12
# Two voices at once, or none, for so few frames are an error at the border between two people.
GLITCH_FRAMES = 3
# A change of voice for fewer frames than this, in the middle of speech, is the network wavering between two voices.
STEADY_FRAMES = 12
# The most and the least sound of a stretch (seconds) that its voice is taken from.
MOST_S, LEAST_S = 2.0, 0.4
# The stretches of a passage share a budget: this share of the time since the last passage, plus what earlier passages
# saved, up to SAVED_S seconds. A passage always has at least PASSAGE_S.
SHARE, SAVED_S, PASSAGE_S = 0.40, 3.5, 1.2
# A telephone transmits nothing above its band and little below it: the largest ratios of those powers to the band's.
BAND_HZ, LOW_HZ, HIGH_HZ = (300.0, 3400.0), 150.0, 4000.0
NOTHING_ABOVE, LITTLE_BELOW = 1e-5, 1e-2
_EVEN = RATE // 10  # samples
# A stretch of BOTH_ENDS_S seconds is heard at both ends, and split in two where the similarity is below UNLIKE.
BOTH_ENDS_S, UNLIKE = 4.5, 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class VoiceStretch:
    """A time in which the same people speak, short pauses included. Seconds of the sound."""

    start: float
    end: float
    threads: tuple[int, ...]  # one, or two at once
    voice: Vector | None = None  # unit length; only for one person, in a stretch that is long enough
    heard_s: float = 0.0  # how much sound the voice was taken from
    narrow: bool = False  # that sound came by telephone, where all voices are more alike

    def joined(self, following: "VoiceStretch") -> "VoiceStretch":
        """Return this one with what follows it."""
        heard_s = self.heard_s + following.heard_s
        voice: Vector | None = self.voice if following.voice is None else following.voice
        if self.voice is not None and following.voice is not None:
            voice = unit(self.voice * self.heard_s + following.voice * following.heard_s)
        return replace(self, end=following.end, voice=voice, heard_s=heard_s)


class HearsVoice(Protocol):
    """A network that takes a voice from sound."""

    def voice(self, samples: Samples) -> Vector: ...


@dataclass(slots=True)
class Cutter:
    """Takes passages in order and carries the unused budget of sound for voices from one to the next."""

    networks: HearsVoice
    _threads: int = 0  # numbers used by the passages so far
    _saved_s: float = SAVED_S
    _until_s: float = 0.0

    def add(self, start_s: float, samples: Samples, active: Activity) -> Iterator[VoiceStretch]:
        """Yield the stretches of a passage, given its start and which of its voices speak in each frame."""
        runs = _runs(active)
        end_s = start_s + len(samples) / RATE
        self._saved_s = min(SAVED_S, self._saved_s + SHARE * (end_s - self._until_s))
        lengths = [(last - first) * FRAME / RATE if len(voices) == 1 else 0.0 for first, last, voices in runs]
        seconds_by_run = shares(lengths, max(self._saved_s, PASSAGE_S))
        self._saved_s, self._until_s = max(0.0, self._saved_s - sum(seconds_by_run)), end_s
        for (first, last, voices), seconds in zip(runs, seconds_by_run, strict=True):
            threads = tuple(self._threads + voice for voice in voices)
            full_stretch = VoiceStretch(start=start_s + moment(first), end=start_s + moment(last), threads=threads)
            if seconds < LEAST_S:
                yield full_stretch
            elif full_stretch.end - full_stretch.start < BOTH_ENDS_S:
                sound = _middle(samples, first, last, seconds)
                yield replace(full_stretch, voice=self.networks.voice(sound), heard_s=seconds, narrow=is_narrow(sound))
            else:
                yield from self._both_ends(full_stretch, samples, first, last, seconds / 2)
        self._threads += VOICES

    def _both_ends(
        self, full_stretch: VoiceStretch, samples: Samples, begin: int, end: int, seconds: float
    ) -> Iterator[VoiceStretch]:
        reach = round((BOTH_ENDS_S / 2) * RATE / FRAME)
        sound = _middle(samples, begin, begin + reach, seconds)
        first_voice = self.networks.voice(sound)
        second_voice = self.networks.voice(_middle(samples, end - reach, end, seconds))
        cut = (full_stretch.start + full_stretch.end) / 2
        first = replace(full_stretch, end=cut, voice=first_voice, heard_s=seconds, narrow=is_narrow(sound))
        second = replace(first, start=cut, end=full_stretch.end, voice=second_voice)
        if float(first_voice @ second_voice) < UNLIKE:
            yield first
            yield second
        else:
            yield first.joined(second)


def _middle(samples: Samples, begin: int, end: int, seconds: float) -> Samples:
    margin = max(0, (end - begin) * FRAME - round(seconds * RATE)) // 2
    start = begin * FRAME + round(FIRST_S * RATE) - FRAME // 2 + margin
    return samples[start : start + round(seconds * RATE)]


def is_narrow(samples: Samples) -> bool:
    """Return whether sound lies within a telephone's band."""
    # A transform of any other length takes up to twenty times as long.
    samples = samples[: max(1, len(samples) // _EVEN) * _EVEN]
    powers = np.abs(np.fft.rfft(samples)) ** 2
    hz = np.fft.rfftfreq(len(samples), 1 / RATE)
    band = float(powers[(hz >= BAND_HZ[0]) & (hz <= BAND_HZ[1])].sum())
    above, below = float(powers[hz >= HIGH_HZ].sum()), float(powers[hz <= LOW_HZ].sum())
    return above <= NOTHING_ABOVE * band and below <= LITTLE_BELOW * band


def shares(lengths: list[float], budget: float) -> list[float]:
    """Return how many seconds of each stretch a voice is taken from: `budget` seconds in all, evenly spread."""
    amounts = [0.0] * len(lengths)
    indices = [n for n in sorted(range(len(lengths)), key=lambda n: lengths[n]) if lengths[n] >= LEAST_S]
    while indices and budget / len(indices) < LEAST_S:
        indices.pop(0)
    for place, n in enumerate(indices):
        limit = MOST_S if lengths[n] < BOTH_ENDS_S else 1.5 * MOST_S
        amounts[n] = min(lengths[n], limit, budget / (len(indices) - place))
        budget -= amounts[n]
    return amounts


def _runs(active: NDArray[np.bool_]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return (first, one past the last, voices) wherever somebody speaks, without glitches and short pauses."""
    raw = _steady(_coded((active * (1 << np.arange(active.shape[1]))).sum(axis=1)))
    runs: list[tuple[int, int, int]] = []
    for n, (first, last, code) in enumerate(raw):
        if not code:
            continue
        neighbours = [raw[m][2] for m in (n - 1, n + 1) if 0 <= m < len(raw)]
        if code.bit_count() > 1 and last - first <= GLITCH_FRAMES and runs and any(c & code for c in neighbours):
            begin, _, previous_code = runs[-1]
            if previous_code & code:
                runs[-1] = (begin, last, previous_code)
                continue
        if runs and runs[-1][2] == code and first - runs[-1][1] <= PAUSE_FRAMES:
            runs[-1] = (runs[-1][0], last, code)
        else:
            runs.append((first, last, code))
    return [(first, last, tuple(v for v in range(active.shape[1]) if code >> v & 1)) for first, last, code in runs]


def _coded(codes: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return (first, one past the last, voices as bits) of all frames, in order."""
    edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    return [(first, last, int(codes[first])) for first, last in itertools.pairwise(edges) if last > first]


def _steady(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge runs that are too short, between two runs of speech, into the longer neighbour; the shortest first."""
    runs = list(runs)
    while True:
        short_runs = [
            (runs[n][1] - runs[n][0], n)
            for n in range(1, len(runs) - 1)
            if all(code for _, _, code in runs[n - 1 : n + 2]) and runs[n][1] - runs[n][0] < STEADY_FRAMES
        ]
        if not short_runs:
            return runs
        _, n = min(short_runs)
        code = max(runs[n - 1], runs[n + 1], key=lambda run: run[1] - run[0])[2]
        merged_runs = [runs[n - 1], (*runs[n][:2], code), runs[n + 1]]
        for before, after in ((1, 2), (0, 1)):
            if merged_runs[before][2] == merged_runs[after][2]:
                merged_runs[before : after + 1] = [(merged_runs[before][0], merged_runs[after][1], code)]
        runs[n - 1 : n + 2] = merged_runs


def unit(vector: Vector) -> Vector:
    """Return the vector scaled to length 1."""
    return np.asarray(vector / (np.linalg.norm(vector) + 1e-9), np.float32)
