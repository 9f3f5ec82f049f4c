"""Meetings composed of single clips: sound on one track, and exactly who said what and when. No service takes part.

A voice's clips are cut at their pauses into sayings, so that nobody is heard twice with the same words where there
are others. Where a set has fewer voices than people, further ones are clips played faster or slower.
"""

import itertools
import json
import random
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
FRAME = 160  # samples: speech is told from pauses in steps of 10 ms
# Within a turn, pauses shorter than this are speech, as in NIST's evaluations.
PAUSE_S = 0.3
# Nobody speaks below this share of the way (in dB) from a clip's noise to its loudest tenth, nor so far below that.
NOISE_SHARE, QUIETER_DB = 0.35, 30.0
SAYING_S, LONGEST_S = 2.0, 9.0
# A part with less speech than this has none: a click, a breath.
LEAST_S = 0.4
LONGEST_TEXT_S = 30.0
OVERLAP_S, GAP_S = 1.0, 0.6
LEVEL = 0.06  # root mean square of the speech of every clip
NOISE = 0.0004
FASTER = (1.0, 1.2, 0.83)
# Made by one synthetic voice, whatever the set calls its speakers (cosines of 0.73 to 0.79, as within one person).
ONE_VOICE = {"tts_pl": "tts_es", "tts_pt": "tts_es"}
# Its text is the task that its speaker was given, "quiet during this recording": four seconds of hum, no word.
NOBODY_SPEAKS = frozenset({"sv_u16001.wav"})

Samples = NDArray[np.float32]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Saying:
    """Something a voice says; `text` is None where nobody wrote it down."""

    voice: str
    samples: Samples
    spoken: tuple[Interval, ...]  # seconds of the samples
    text: str | None


@dataclass(frozen=True, kw_only=True)
class ComposedTurn:
    """A saying in a meeting. Seconds of the recording."""

    who: int
    start: float
    spoken: tuple[Interval, ...]
    text: str | None


@dataclass(frozen=True, kw_only=True)
class Composed:
    """A meeting on one track."""

    name: str
    people: int
    samples: Samples
    turns: tuple[ComposedTurn, ...]

    @property
    def duration_s(self) -> float:
        return len(self.samples) / RATE

    def spoken(self) -> dict[str, list[Interval]]:
        """Return who speaks when."""
        found: dict[str, list[Interval]] = {}
        for turn in self.turns:
            found.setdefault(str(turn.who), []).extend(turn.spoken)
        return found


def compose(voices: Mapping[str, Sequence[Saying]], *, people: int, turns: int, seed: int) -> Composed:
    """Compose turns of a drawn order, nobody twice in a row; every other one begins within the one before it."""
    draw = random.Random(seed)
    names = draw.sample(sorted(voices), people)
    told: list[ComposedTurn] = []
    parts: list[tuple[int, Samples]] = []
    used = [draw.randrange(len(voices[name])) for name in names]
    order: list[int] = []
    while len(order) < turns:
        order += [who for who in draw.sample(range(people), people) if people == 1 or not order or who != order[-1]]
    at = 1.0
    for number, who in enumerate(order[:turns]):
        sayings = voices[names[who]]
        saying = sayings[used[who] % len(sayings)]
        used[who] += 1
        start = max(0.0, at - OVERLAP_S if number % 2 and people > 1 else at + GAP_S)
        parts.append((round(start * RATE), saying.samples))
        spoken = tuple((start + begin, start + end) for begin, end in saying.spoken)
        told.append(ComposedTurn(who=who, start=start, spoken=spoken, text=saying.text))
        at = start + len(saying.samples) / RATE
    samples = np.random.default_rng(seed).normal(0, NOISE, round((at + 1) * RATE)).astype(np.float32)
    for first, piece in parts:
        samples[first : first + len(piece)] += piece
    return Composed(name=f"{people} people", people=people, samples=samples, turns=tuple(told))


def voices_of(folder: Path, *, least: int, texts_only: bool) -> dict[str, list[Saying]]:
    """Return voices of a set of clips, at least so many; English with its words only, if `texts_only`."""
    listed = json.loads((folder / "transcripts.json").read_text(encoding="utf-8"))
    in_parts = {clip["file"] for clip in listed if "start_s" in clip}
    clips = [clip for clip in listed if clip.get("speaker") and not clip.get("rttm")]
    clips = [clip for clip in clips if clip["file"] not in NOBODY_SPEAKS]
    clips = [clip for clip in clips if "start_s" in clip or clip["file"] not in in_parts]
    if texts_only:
        clips = [clip for clip in clips if clip.get("text") and clip.get("lang", "en") == "en"]
        clips = [clip for clip in clips if clip.get("dur", 0.0) <= LONGEST_TEXT_S]
    voices: dict[str, list[Saying]] = {}
    for speed in FASTER:
        if len(voices) >= least:
            break
        for clip in clips:
            part = slice(*(round(clip[key] * RATE) if key in clip else None for key in ("start_s", "end_s")))
            speaker = ONE_VOICE.get(clip["speaker"], clip["speaker"])
            name = speaker if speed == 1.0 else f"{speaker} at {speed}"
            samples = _evened(_played(_samples(folder / clip["file"])[part], speed))
            # A part has too little of the clip's noise, or of its speech, to tell by itself which is which.
            level = speech_level(samples)
            pieces = [samples] if texts_only else sayings_of(samples, level)
            heard = [(piece, tuple(speech_in(piece, level))) for piece in pieces]
            text = clip["text"] if texts_only else None
            voices.setdefault(name, []).extend(
                Saying(voice=name, samples=piece, spoken=spoken, text=text)
                for piece, spoken in heard
                if sum(end - begin for begin, end in spoken) >= LEAST_S
            )
    return voices


def sayings_of(samples: Samples, level: float) -> list[Samples]:
    """Return a clip cut in pauses into parts of a few seconds; whole where it is short. `level`: of its speech."""
    cuts, begin = [], 0.0
    spoken = speech_in(samples, level, 0.15)
    for (_, end), (start, _) in itertools.pairwise(spoken):
        middle = (end + start) / 2
        if middle - begin >= SAYING_S and (middle - begin >= LONGEST_S or start - end >= PAUSE_S):
            cuts.append(middle)
            begin = middle
    if cuts and len(samples) / RATE - cuts[-1] < SAYING_S / 2:
        cuts.pop()
    edges = [0, *(round(cut * RATE) for cut in cuts), len(samples)]
    return [samples[first:last] for first, last in itertools.pairwise(edges)]


def speech_level(samples: Samples) -> float:
    """Return the level (dB) from which on a clean clip is speech, by its noise and its loudest tenth."""
    noise, high = (float(np.percentile(_levels(samples), share)) for share in (5, 90))
    return max(noise + NOISE_SHARE * (high - noise), high - QUIETER_DB)


def speech_in(samples: Samples, level: float, pause_s: float = PAUSE_S) -> list[Interval]:
    """Return where sound is louder than `level` (dB), shorter pauses included."""
    active = _levels(samples) > level
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8))).reshape(-1, 2)
    joined: list[Interval] = []
    for first, last in edges:
        start, end = float(first * FRAME / RATE), float(last * FRAME / RATE)
        if joined and start - joined[-1][1] < pause_s:
            joined[-1] = (joined[-1][0], end)
        elif end - start >= 0.05:
            joined.append((start, end))
    return joined


def _levels(samples: Samples) -> NDArray[np.floating]:
    """Return the level of each frame (dB), a little smoothed."""
    whole = len(samples) // FRAME * FRAME
    levels = np.sqrt((samples[:whole].reshape(-1, FRAME) ** 2).mean(axis=1) + 1e-12)
    return np.asarray(20 * np.log10(np.convolve(levels, np.ones(3) / 3, "same")))


def _evened(samples: Samples) -> Samples:
    spoken = np.concatenate(
        [samples[round(a * RATE) : round(b * RATE)] for a, b in speech_in(samples, speech_level(samples))] or [samples]
    )
    return np.asarray(samples * (LEVEL / float(np.sqrt(np.mean(spoken**2) + 1e-12))), np.float32)


def _played(samples: Samples, speed: float) -> Samples:
    if speed == 1.0:
        return samples
    count = round(len(samples) / speed)
    return np.asarray(np.interp(np.arange(count) * speed, np.arange(len(samples)), samples), np.float32)


def _samples(path: Path) -> Samples:
    with wave.open(str(path), "rb") as file:
        assert file.getframerate() == RATE
        assert file.getnchannels() == 1
        return np.asarray(np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_768, np.float32)
