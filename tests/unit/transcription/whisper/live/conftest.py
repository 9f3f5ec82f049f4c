"""Tracks whose detector hears loudness as speech."""

from collections.abc import Callable

import numpy as np
import pytest

from sederunt.transcription.whisper.live.detector import Hearing
from sederunt.transcription.whisper.live.track import Cuts, Track
from sederunt.transcription.whisper.speech import FRAME, Samples


class LoudEar:
    """Takes for speech what is loud."""

    def hear(self, samples: Samples) -> Hearing:
        return Hearing(np.abs(samples.reshape(-1, FRAME)).max(axis=1), np.zeros(len(samples) // FRAME, np.bool_))


@pytest.fixture
def make_track() -> Callable[[], Track]:
    return lambda: Track(Cuts(), LoudEar())


@pytest.fixture
def track(make_track: Callable[[], Track]) -> Track:
    return make_track()
