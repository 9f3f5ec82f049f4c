"""What of a stream's past a reading is told."""

import numpy as np

from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.reader import FOLLOWS_S, follows
from sederunt.transcription.whisper.live.track import Utterance
from sederunt.transcription.whisper.speech import RATE


def utterance(start_s: float) -> Utterance:
    return Utterance("2", round(start_s * RATE), np.zeros(RATE, np.int16), np.zeros(31, np.float32))


def test_an_utterance_follows_what_ended_shortly_before_it() -> None:
    before = Said(key="1", start=1.0, end=4.0, transcript="And so.", confidence=0.9)
    assert follows(before, utterance(4.0 + FOLLOWS_S - 0.1))
    assert not follows(before, utterance(4.0 + FOLLOWS_S + 0.1))


def test_nothing_follows_a_cough() -> None:
    assert not follows(Said(key="1", start=1.0, end=4.0, transcript="", confidence=0.0), utterance(4.2))
