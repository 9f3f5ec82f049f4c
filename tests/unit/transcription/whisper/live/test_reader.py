"""What of a stream's past a reading is told, and how far it reads. The network is a script."""

from typing import Any

import numpy as np
import pytest

from sederunt.transcription.sessions import Said
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.decoding import Decoded, ReadingOptions, TimedWord, TokenPhrase
from sederunt.transcription.whisper.live.detector import silence
from sederunt.transcription.whisper.live.reader import FOLLOWS_S, Reader, follows, recites
from sederunt.transcription.whisper.live.track import OpenUtterance
from sederunt.transcription.whisper.reading import AROUND_S, Manner
from sederunt.transcription.whisper.speech import FRAME_S, RATE, Samples, SpeechActivity


def utterance(start_s: float) -> OpenUtterance:
    return OpenUtterance("2", round(start_s * RATE), np.zeros(RATE, np.int16), silence(31))


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


class Deaf:
    """Hears one word per second, and of long sound nothing behind the fourth second."""

    def read(self, samples: Samples, _way: ReadingOptions) -> Decoded:
        seconds = len(samples) / RATE
        count = 4 if seconds > 6 else int(seconds)
        words = tuple(TimedWord(f" w{n}", n + 0.1, n + 0.9, 0.9) for n in range(count))
        return Decoded((TokenPhrase(0.0, None, words),), "words", score=-0.3, silence=0.1, language="en")


@pytest.mark.parametrize(("clean", "end_s", "said_until_s"), [(True, 8.0, 7.0), (False, 4.0, 4.0)])
def test_the_end_that_a_reading_left_out_is_read_unless_the_next_utterance_has_it(
    monkeypatch: pytest.MonkeyPatch, clean: bool, end_s: float, said_until_s: float
) -> None:
    frames = np.full(round(8 / FRAME_S), 0.9, np.float32)
    monkeypatch.setattr(speech, "listen", lambda _samples: SpeechActivity(frames, frames))
    network: Any = Deaf()
    whole = OpenUtterance("1", 0, np.ones(8 * RATE, np.int16), silence(len(frames)), clean=clean)
    said, end = Reader(network, Manner(language="en")).final(whole)
    assert end == pytest.approx(end_s, abs=0.3)
    assert said.end == pytest.approx(said_until_s, abs=AROUND_S)
