"""Cut passages into stretches wherever somebody begins or ends to speak, each with the voices in it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.segmentation import FIRST_S, FRAME, RATE, VOICES, Activity, moment

Samples = NDArray[np.float32]
Vector = NDArray[np.float32]

# Pauses within a stretch of one person; whoever goes on after a longer one may be somebody else.
PAUSE_FRAMES = 12
# Two at once, or nobody, for so few frames is an error at the border between two people.
GLITCH_FRAMES = 3
# Nobody takes over for fewer frames than this in the midst of speech: the network wavers between two voices.
STEADY_FRAMES = 12
# A voice is taken from so much of a stretch at most, and at least so much (seconds).
MOST_S, LEAST_S = 2.0, 0.4
# Of all stretches of a passage, from so much of the time since the last one; what is left over is saved for the next
# ones, up to so many seconds. A passage may have so many in any case.
SHARE, SAVED_S, PASSAGE_S = 0.40, 3.5, 1.2
# On the telephone nothing is heard above and little below its band: so small are those powers against the band's.
BAND_HZ, LOW_HZ, HIGH_HZ = (300.0, 3400.0), 150.0, 4000.0
NOTHING_ABOVE, LITTLE_BELOW = 1e-5, 1e-2
_EVEN = RATE // 10  # samples
# A stretch is heard at both ends where it is so long; it is two where they are so little alike.
BOTH_ENDS_S, UNLIKE = 4.5, 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class VoiceStretch:
    """The same people speak all the time, short pauses included. Seconds of the sound."""

    start: float
    end: float
    threads: tuple[int, ...]  # one, or two at once
    voice: Vector | None = None  # of length 1; of one person alone, where it was long enough to be heard
    heard_s: float = 0.0  # how much sound the voice was taken from
    narrow: bool = False  # that sound came by telephone, where voices are all more alike

    def joined(self, following: "VoiceStretch") -> "VoiceStretch":
        """Return this one with what follows it."""
        heard_s = self.heard_s + following.heard_s
        voice: Vector | None = self.voice if following.voice is None else following.voice
        if self.voice is not None and following.voice is not None:
            voice = unit(self.voice * self.heard_s + following.voice * following.heard_s)
        return replace(self, end=following.end, voice=voice, heard_s=heard_s)


class HearsVoice(Protocol):
    """Who takes a voice from sound."""

    def voice(self, samples: Samples) -> Vector: ...


@dataclass(slots=True)
class Cutter:
    """Takes passages in order; what a voice may be taken from is saved up between them."""

    networks: HearsVoice
    _threads: int = 0  # given to the passages so far
    _saved_s: float = SAVED_S
    _until_s: float = 0.0

    def add(self, start_s: float, samples: Samples, active: Activity) -> Iterator[VoiceStretch]:
        """Yield the stretches of a passage, by where it starts and who of its voices speaks in each frame."""
        runs = _runs(active)
        end_s = start_s + len(samples) / RATE
        self._saved_s = min(SAVED_S, self._saved_s + SHARE * (end_s - self._until_s))
        lengths = [(last - first) * FRAME / RATE if len(who) == 1 else 0.0 for first, last, who in runs]
        takes = shares(lengths, max(self._saved_s, PASSAGE_S))
        self._saved_s, self._until_s = max(0.0, self._saved_s - sum(takes)), end_s
        for (first, last, who), take in zip(runs, takes, strict=True):
            threads = tuple(self._threads + voice for voice in who)
            whole = VoiceStretch(start=start_s + moment(first), end=start_s + moment(last), threads=threads)
            if take < LEAST_S:
                yield whole
            elif whole.end - whole.start < BOTH_ENDS_S:
                sound = _middle(samples, first, last, take)
                yield replace(whole, voice=self.networks.voice(sound), heard_s=take, narrow=is_narrow(sound))
            else:
                yield from self._both_ends(whole, samples, first, last, take / 2)
        self._threads += VOICES

    def _both_ends(
        self, whole: VoiceStretch, samples: Samples, begin: int, end: int, take: float
    ) -> Iterator[VoiceStretch]:
        reach = round((BOTH_ENDS_S / 2) * RATE / FRAME)
        sound = _middle(samples, begin, begin + reach, take)
        first_voice = self.networks.voice(sound)
        second_voice = self.networks.voice(_middle(samples, end - reach, end, take))
        cut = (whole.start + whole.end) / 2
        first = replace(whole, end=cut, voice=first_voice, heard_s=take, narrow=is_narrow(sound))
        second = replace(first, start=cut, end=whole.end, voice=second_voice)
        if float(first_voice @ second_voice) < UNLIKE:
            yield first
            yield second
        else:
            yield first.joined(second)


def _middle(samples: Samples, begin: int, end: int, seconds: float) -> Samples:
    """Return so much sound from the middle of these frames."""
    margin = max(0, (end - begin) * FRAME - round(seconds * RATE)) // 2
    start = begin * FRAME + round(FIRST_S * RATE) - FRAME // 2 + margin
    return samples[start : start + round(seconds * RATE)]


def is_narrow(samples: Samples) -> bool:
    """Return whether sound has only what a telephone lets through."""
    # A transform of any other length takes up to twenty times as long.
    samples = samples[: max(1, len(samples) // _EVEN) * _EVEN]
    powers = np.abs(np.fft.rfft(samples)) ** 2
    hz = np.fft.rfftfreq(len(samples), 1 / RATE)
    band = float(powers[(hz >= BAND_HZ[0]) & (hz <= BAND_HZ[1])].sum())
    above, below = float(powers[hz >= HIGH_HZ].sum()), float(powers[hz <= LOW_HZ].sum())
    return above <= NOTHING_ABOVE * band and below <= LITTLE_BELOW * band


def shares(lengths: list[float], budget: float) -> list[float]:
    """Return how much of each stretch a voice is taken from (seconds): evenly, `budget` of all of them."""
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
    """(first, one past the last, voices) wherever somebody speaks; glitches and short pauses closed."""
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
    """(first, one past the last, voices as bits) of all frames, in order."""
    edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    return [(a, b, int(codes[a])) for a, b in itertools.pairwise(edges) if b > a]


def _steady(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Give what is too short, between two who speak, to the longer of its neighbours, the shortest first."""
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
    """Return a vector of length 1 in the same direction."""
    return np.asarray(vector / (np.linalg.norm(vector) + 1e-9), np.float32)
