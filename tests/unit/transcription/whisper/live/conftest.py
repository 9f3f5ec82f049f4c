"""Tracks whose detector hears loudness as speech."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sederunt.transcription.whisper.live.track import Cuts, Track
from sederunt.transcription.whisper.speech import FRAME, Samples


class LoudEar:
    """Takes for speech what is loud."""

    def hear(self, samples: Samples) -> NDArray[np.float32]:
        return np.asarray(np.abs(samples.reshape(-1, FRAME)).max(axis=1), np.float32)


@pytest.fixture
def make_track() -> Callable[[], Track]:
    return lambda: Track(Cuts(), LoudEar())


@pytest.fixture
def track(make_track: Callable[[], Track]) -> Track:
    return make_track()
