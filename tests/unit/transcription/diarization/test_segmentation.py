"""What the network's classes mean."""

import numpy as np

from sederunt.transcription.diarization.segmentation import SETS, active


def test_a_class_stands_for_the_voices_of_its_set() -> None:
    for number, members in enumerate(SETS):
        classes = np.full((1, len(SETS)), -9.0, np.float32)
        classes[0, number] = -0.1
        assert tuple(np.flatnonzero(active(classes)[0])) == members
