"""What of a stream's past a reading is told."""

import numpy as np
import pytest

from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper.live.reader import FOLLOWS_S, follows, recites
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


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Thank you.", "thank you"),
        ("And here are some words.", "And here are some more words. And here are some, yes."),
        ("It is so. And here we are now. And here we are now.", "Something else."),
    ],
)
def test_what_a_network_was_told_it_may_recite(text: str, before: str) -> None:
    assert recites(text, before)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("It was the worst of times.", "It was the best of times."),
        ("Words, words, words, words.", "We are just saying some words."),
        ("Thank you.", "Thank you all."),
    ],
)
def test_what_people_say_again_is_no_recital(text: str, before: str) -> None:
    assert not recites(text, before)
