"""How right a diarization is: its error rate as it is usually defined, with the best assignment of voices. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

STEP_S = 0.01

Flags = NDArray[np.bool_]


class VoicedSpan(Protocol):
    """One voice without a pause."""

    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def voice(self) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DiarizationError:
    """Shares of the time that people speak; where two speak at once, that is twice the time."""

    missed: float
    false: float  # alarms: speech where there is none, or more people than there are
    confused: float

    @property
    def rate(self) -> float:
        """Return the diarization error rate."""
        return self.missed + self.false + self.confused


def diarization_error(
    spoken: Mapping[str, Sequence[tuple[float, float]]],
    found: Sequence[VoicedSpan],
    duration_s: float,
    *,
    collar_s: float = 0.0,
) -> DiarizationError:
    """Compare who speaks when with what was found; `collar_s` around each true border nothing counts."""
    steps = round(duration_s / STEP_S) + 1
    people = [_flags(intervals, steps) for intervals in spoken.values()]
    numbers = sorted({span.voice for span in found})
    voices = [_flags([(s.start, s.end) for s in found if s.voice == n], steps) for n in numbers]
    counted = np.ones(steps, np.bool_)
    for border in (moment for intervals in spoken.values() for interval in intervals for moment in interval):
        counted[max(0, round((border - collar_s) / STEP_S)) : round((border + collar_s) / STEP_S)] = False
    common = np.array([[int((p & v & counted).sum()) for v in voices] for p in people]).reshape(len(people), -1)
    said = np.sum([p & counted for p in people], axis=0) if people else np.zeros(steps, np.int64)
    told = np.sum([v & counted for v in voices], axis=0) if voices else np.zeros(steps, np.int64)
    total = max(1, int(said.sum()))
    return DiarizationError(
        missed=float(np.maximum(said - told, 0).sum()) / total,
        false=float(np.maximum(told - said, 0).sum()) / total,
        confused=float(np.minimum(said, told).sum() - _most(common)) / total,
    )


def _flags(intervals: Sequence[tuple[float, float]], steps: int) -> Flags:
    flags = np.zeros(steps, np.bool_)
    for start, end in intervals:
        flags[max(0, round(start / STEP_S)) : round(end / STEP_S)] = True
    return flags


def _most(common: NDArray[np.int64]) -> int:
    """Return the steps that the best one-to-one assignment of voices to people has in common."""
    best = {0: 0}  # people taken, as bits → steps
    for column in common.T:
        more: dict[int, int] = dict(best)
        for taken, steps in best.items():
            for person in np.flatnonzero(column).tolist():
                if not taken >> person & 1:
                    state = taken | 1 << person
                    more[state] = max(more.get(state, 0), steps + int(column[person]))
        best = more
    return max(best.values())
