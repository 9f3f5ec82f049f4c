"""Loops: words that a network writes again and again, and whether the sound repeats itself as well.

A network that has lost its place writes the same words until its window is full, and is sure of each. The text alone
cannot distinguish that from somebody who says a word eight times; the sound can.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.whisper.speech import RATE, Samples

# Repetitions in a row that are a loop: of one word, of up to _SHORT words, of more.
_ONE, _FEW, _MANY, _SHORT = 6, 4, 3, 8
# Scripts without spaces count by letters: Thai, Lao, Burmese, Khmer, kana, Chinese.
_UNIT = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)*")
_DRAWN_OUT = re.compile(r"^(\D{1,3}?)\1{9,}")  # one word made of the same letters: "eeeeeeeeeeee"

# Sound is compared in steps of 10 ms by the shape of its spectrum, regardless of loudness; steps that are so much
# softer (dB) than the loudest count as silence.
_HOP, _WINDOW, _BANDS, _SILENT_DB = 160, 400, 24, 30.0
_LEAST_PERIOD = 18  # steps
# Rounds need this similarity, and this contrast to other distances: a hum is similar to itself at any distance. None of
# 1,279 stretches of ordinary speech (2 to 16 s, 37 clips) was taken for rounds. Words said 4 to 9 times were all
# counted right if they are copies, 17 of 18 if lengths and pauses vary by 5 %, 14 of 18 by 10 %.
_ALIKE, _CONTRAST = 0.4, 0.25
_LEAST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Loop:
    """A run of words that repeats itself; the last round may be cut short."""

    first: int  # index in the searched words
    end: int  # one past the last
    size: int  # words of a round; 0 if all rounds are written as one word


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often a stretch of sound repeats itself."""

    count: int
    start_s: float
    period_s: float


def loop_in(words: Sequence[str]) -> Loop | None:
    """Return the loop with the shortest round in some words, or None."""
    units, places = list[str](), list[int]()
    for place, word in enumerate(words):
        for unit in _UNIT.findall(word.lower()):
            drawn_out = _DRAWN_OUT.match(unit)
            parts = [drawn_out[1]] * (len(drawn_out[0]) // len(drawn_out[1])) if drawn_out else [unit]
            units += parts
            places += [place] * len(parts)
    for size in range(1, len(units) // _MANY + 1):
        times = _ONE if size == 1 else _FEW if size <= _SHORT else _MANY
        same_units = 0  # units in a row that equal those one round before
        for at in range(size, len(units) + 1):
            if at < len(units) and units[at] == units[at - size]:
                same_units += 1
                continue
            if same_units >= size * (times - 1):
                first = at - same_units - size
                loop_end = places[at] if at < len(units) else len(words)  # marks in between belong to the last round
                return Loop(places[first], max(places[at - 1] + 1, loop_end), places[first + size] - places[first])
            same_units = 0
    return None


def rounds_in(samples: Samples) -> Rounds | None:
    """Return how often a stretch of sound repeats itself; None if fewer than three times."""
    shapes, sounding = _shapes(samples)
    longest = len(shapes) // _LEAST_ROUNDS
    if longest < _LEAST_PERIOD or not sounding.any():
        return None
    likeness = _likeness(shapes, longest)
    contrast = likeness - np.minimum.accumulate(likeness)
    likeness[contrast < _CONTRAST] = 0.0
    likeness[:_LEAST_PERIOD] = 0.0
    best = float(likeness.max())
    if best < _ALIKE:
        return None
    candidates = np.flatnonzero(likeness >= 0.9 * best)  # pairs of rounds are just as similar
    period = int(candidates[0]) + int(np.argmax(likeness[candidates[0] : candidates[0] + _LEAST_PERIOD // 2]))
    sounding_steps = np.flatnonzero(sounding)
    # The last round ends with its sound, which lasts at least a third of a period.
    count = int((sounding_steps[-1] + 1 - sounding_steps[0]) / period + 0.7)
    step_s = _HOP / RATE
    return Rounds(count, float(sounding_steps[0]) * step_s, period * step_s) if count >= _LEAST_ROUNDS else None


def _shapes(samples: Samples) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the shape of the spectrum per step, minus the mean shape, and which steps are not silent."""
    if len(samples) < _WINDOW:
        return np.zeros((0, _BANDS), np.float32), np.zeros(0, np.bool_)
    frames = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP] * np.hanning(_WINDOW)
    power = np.abs(np.fft.rfft(frames, 512)) ** 2
    mel = np.log1p(np.fft.rfftfreq(512, 1 / RATE) / 700)
    edges = np.linspace(mel[3], mel[-14], _BANDS + 1)[:-1]
    bands = np.add.reduceat(power, np.searchsorted(mel, edges), axis=1)
    total = bands.sum(axis=1)
    if not total.max() > 0:
        return np.zeros(bands.shape, np.float32), np.zeros(len(bands), np.bool_)
    sounding = total > total.max() * 10 ** (-_SILENT_DB / 10)
    levels = np.log(bands + bands.max() * 1e-5)
    shapes = levels - levels.mean(axis=1, keepdims=True)
    shapes -= shapes[sounding].mean(axis=0)
    shapes[~sounding] = 0.0
    return shapes.astype(np.float32), sounding


def _likeness(shapes: NDArray[np.float32], longest: int) -> NDArray[np.float64]:
    """Return how similar the sound is to itself n steps later, for each n up to the longest."""
    count, steps = len(shapes), np.arange(longest + 1)
    spectrum = np.fft.rfft(shapes, 2 * count, axis=0)
    correlation = np.fft.irfft((np.abs(spectrum) ** 2).sum(axis=1), 2 * count)[: longest + 1]
    energy = np.concatenate(([0.0], np.cumsum((shapes**2).sum(axis=1))))
    earlier, later = energy[count - steps], energy[count] - energy[steps]
    # If one of the two holds hardly any sound, a scrap of it would decide.
    has_enough_sound = np.minimum(earlier, later) >= 0.2 * energy[count]
    # A steady tone hardly differs from the mean of all steps, so it must not count as similar.
    return np.where(has_enough_sound, correlation / (np.sqrt(earlier * later) + count), 0.0)
