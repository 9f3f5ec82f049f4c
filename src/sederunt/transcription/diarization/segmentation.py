"""What the segmentation network's classes mean, and how its windows become one line of time. Pure.

The network hears ten seconds at a time and tells at most three voices of that window apart, two of them at once. Its
windows overlap; a voice goes on in the next one where both hear it in the seconds they share. Such a voice that goes
on is a *thread*: surely one person for as long as it lasts, but the same person may come back in another thread.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Activity = NDArray[np.bool_]  # (frames, voices of the window)

RATE = 16_000
FRAME = 270  # samples from one frame to the next
FRAME_S = FRAME / RATE
FIRST_S = 495 / RATE  # the middle of the first frame
WINDOW = 10 * RATE  # samples the network hears at once
FRAMES = 589  # in a window
# Which voices of a window each class stands for.
SETS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
VOICES = 3
# A voice goes on where both windows hear it for so many frames, and for this share of what either hears of it.
COMMON_FRAMES, COMMON_SHARE = 6, 0.5

_TABLE = np.array([[voice in members for voice in range(VOICES)] for members in SETS])


def active(classes: NDArray[np.float32]) -> Activity:
    """Return who speaks in each frame of a window, by the likeliest class."""
    return np.asarray(_TABLE[classes.argmax(axis=-1)])


@dataclass(frozen=True, slots=True)
class FrameRegion:
    """The part of the time that one window answers for."""

    first: int  # frame, counted from the start of the sound
    threads: tuple[int, ...]  # of each voice
    active: Activity


class Stitcher:
    """Takes windows in order; gives regions without overlap."""

    def __init__(self) -> None:
        self._threads = 0
        self._held: FrameRegion | None = None  # what its successor may still cut short

    def add(self, first: int, window: Activity) -> Iterator[FrameRegion]:
        """Take the next window, by its first frame; gives what is settled by it."""
        before = self._held
        begin = first
        known: dict[int, int] = {}
        if before is not None:
            shared = before.first + len(before.active) - first
            if shared > 0:
                known = _same(before.active[-shared:], window[:shared])
                begin = first + shared // 2
                cut = begin - before.first
                before = FrameRegion(before.first, before.threads, before.active[:cut])
            yield before
        threads = []
        for voice in range(window.shape[1]):
            if before is not None and voice in known:
                threads.append(before.threads[known[voice]])
            else:
                threads.append(self._threads)
                self._threads += 1
        self._held = FrameRegion(begin, tuple(threads), window[begin - first :])

    def end(self) -> Iterator[FrameRegion]:
        """Give the rest."""
        if self._held is not None:
            yield self._held
        self._held = None


def _same(before: Activity, after: Activity) -> dict[int, int]:
    """Voice of the later window → voice of the earlier one, one to one, those with most in common first."""
    common = before.T.astype(int) @ after.astype(int)
    heard = np.maximum(before.sum(axis=0)[:, None], after.sum(axis=0)[None, :])
    found: dict[int, int] = {}
    for old, new in sorted(np.ndindex(common.shape), key=lambda pair: -common[pair]):
        enough = common[old, new] >= max(COMMON_FRAMES, COMMON_SHARE * heard[old, new])
        if enough and new not in found and old not in found.values():
            found[int(new)] = int(old)
    return found


def runs(flags: Sequence[bool] | NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return (first, one past the last) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def moment(frame: int) -> float:
    """Return the seconds at which a frame begins."""
    return max(0.0, FIRST_S + (frame - 0.5) * FRAME_S)
