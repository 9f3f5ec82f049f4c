"""The meaning of the segmentation network's classes, and the times of its frames. Pure.

The network hears a passage of up to ten seconds and tells at most three voices apart, two of them at once. Such a
voice is a *thread*: one person within its passage, although the same person may return in another thread.
"""

import numpy as np
from numpy.typing import NDArray

Activity = NDArray[np.bool_]  # (frames, voices of the passage)

RATE = 16_000
FRAME = 270  # samples from one frame to the next
FRAME_S = FRAME / RATE
FIRST_S = 495 / RATE  # the middle of the first frame
# The voices of a passage that each class stands for.
SETS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
VOICES = 3

_TABLE = np.array([[voice in members for voice in range(VOICES)] for members in SETS])


def active(classes: NDArray[np.float32]) -> Activity:
    """Return which voices speak in each frame, by the likeliest class."""
    return np.asarray(_TABLE[classes.argmax(axis=-1)])


def moment(frame: int) -> float:
    """Return the seconds at which a frame begins."""
    return max(0.0, FIRST_S + (frame - 0.5) * FRAME_S)
