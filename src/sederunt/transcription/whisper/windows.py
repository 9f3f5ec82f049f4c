"""Which stretch of sound is decoded next: pure decisions on speech activity.

A window holds at most 18 s of sound. With 2 s of silence after it the encoder sees 20 s, up to which its cost per
second is flat (tiny.en 0.006 CPU-seconds per second, against 0.016 for Whisper's usual 30 s).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.whisper.speech import FLOOR, FRAME_S, SpeechActivity, runs

WINDOW_S = 18.0
# Silence of this length ends a window; shorter ones stay inside, because context is worth more than their cost.
LONG_SILENCE_S = 3.0
# Room before the first and after the last sound, so that soft beginnings and endings stay complete.
MARGIN_S = 0.4
# A window is cut in a pause of at least PAUSE_S, searched from this share of its length on.
PAUSE_S, SEARCH_FROM = 0.2, 0.45
# Frames that are judged for a window: its sound, the long silence that may end it, and a margin.
LOOK = math.ceil((WINDOW_S + LONG_SILENCE_S + 1.0) / FRAME_S)


@dataclass(frozen=True, slots=True)
class Window:
    """A window in seconds of the judged stretch."""

    start: float
    end: float  # no later sound belongs to it
    clean: bool  # ends in a pause; otherwise its last word may be cut in two
    full: bool = False  # ends only because of its length: a sentence may continue after it


def next_window(activity: SpeechActivity, *, last: bool) -> Window | None:
    """Return the window at the beginning of a stretch; None if the stretch is silent.

    `last`: the sound ends with the stretch; otherwise the stretch is longer than a window.
    """
    active = activity.active
    if not active.any():
        return None
    length_s = len(activity) * FRAME_S
    start = max(0.0, float(np.argmax(active)) * FRAME_S - MARGIN_S)
    limit = start + WINDOW_S
    silences = runs(~active, least=round(LONG_SILENCE_S / FRAME_S))
    silence_starts = [float(first) * FRAME_S for first, _ in silences if first * FRAME_S > start + MARGIN_S]
    silence = silence_starts[0] if silence_starts else None
    if silence is not None and silence + MARGIN_S <= limit:
        return Window(start, silence + MARGIN_S, clean=True)
    if last and length_s <= limit:
        return Window(start, length_s, clean=True)
    pause = best_pause(activity, start + WINDOW_S * SEARCH_FROM, limit)
    return Window(start, limit if pause is None else pause, clean=pause is not None, full=True)


def planned(activity: SpeechActivity, *, last: bool, most: int) -> list[Window]:
    """Return the window at the beginning of a stretch, and those after it as long as each ends in a pause.

    Windows have whole frames, begin within the judged sound, and have no long silence between them.
    """
    planned_windows = list[Window]()
    at = 0  # frames
    while len(planned_windows) < most:
        part = activity[at : at + LOOK]
        is_last = last and at + LOOK >= len(activity)
        window = next_window(part, last=is_last) if len(part) == LOOK or is_last else None
        if window is None or (planned_windows and window.start > LONG_SILENCE_S):
            break
        first, stop = at + round(window.start / FRAME_S), min(len(activity), at + round(window.end / FRAME_S))
        planned_windows.append(replace(window, start=first * FRAME_S, end=stop * FRAME_S))
        at = stop
        if not window.clean:
            break
    return planned_windows


def until_silence(loudness: NDArray[np.float32]) -> int:
    """Return how many frames to judge: those of a window, and what follows up to an inaudible silence. Sound after
    that costs nothing if it is left for later.
    """
    silences = runs(loudness[LOOK:] < FLOOR, least=round(LONG_SILENCE_S / FRAME_S))
    return LOOK + int(silences[0][0]) if len(silences) else len(loudness)


def best_pause(activity: SpeechActivity, earliest: float = 0.0, latest: float = WINDOW_S) -> float | None:
    """Return the middle of the longest pause between two moments, preferring later ones; None if there is none."""
    first, last = round(earliest / FRAME_S), round(latest / FRAME_S)
    part = activity[first:last]
    if not len(part):
        return None
    # In clean sound the detector's silence is enough; in a hum it still hears breaths, so loudness helps.
    soft = part.loudness <= float(np.percentile(activity.loudness, 50))
    pauses = runs((part.speech < 0.3) & soft, least=round(PAUSE_S / FRAME_S))
    if not len(pauses):
        return None
    lengths = (pauses[:, 1] - pauses[:, 0]) * FRAME_S
    lateness = pauses[:, 0] / len(part)
    best = pauses[int(np.argmax(np.minimum(lengths, 1.0) + 0.5 * lateness))]
    return (first + float(best[0] + best[1]) / 2) * FRAME_S
