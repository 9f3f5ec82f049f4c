"""What is loud in a track and was told to nobody; the detector is a stand-in that hears what is loud."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from sederunt.media.pcm import Block
from sederunt.model.transcript import Word
from sederunt.transcription.whisper import speech
from sederunt.transcription.whisper.speech import RATE, Samples, SpeechActivity, loudness
from sederunt.transcripts.untranscribed import LOOK_S, still_without, unheard


@pytest.fixture(autouse=True)
def _ear(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen(samples: Samples) -> SpeechActivity:
        levels = loudness(samples)
        return SpeechActivity(levels, (levels > 0.01).astype(np.float32))

    monkeypatch.setattr(speech, "listen", listen)


def track(*loud: tuple[float, float], seconds: float) -> Samples:
    samples = np.zeros(round(seconds * RATE), np.float32)
    for start, end in loud:
        samples[round(start * RATE) : round(end * RATE)] = 0.1
    return samples


def said(start: float, end: float) -> list[Word]:
    """A word for each half second."""
    return [Word(word="so", start=float(at), end=float(at) + 0.4, confidence=0.9) for at in np.arange(start, end, 0.5)]


def found(samples: Samples, words: Sequence[Word] = ()) -> list[tuple[float, float]]:
    def blocks(start_s: float) -> Iterator[Block]:
        yield Block(start_s=start_s, samples=samples[round(start_s * RATE) :])

    return unheard(blocks, words)


def test_what_lines_cover_is_heard() -> None:
    assert found(track((2.0, 12.0), seconds=40), said(2.0, 12.0)) == []


def test_loud_seconds_without_a_word_are_found_wherever_they_are() -> None:
    later = LOOK_S + 13
    missing = found(track((2.0, 12.0), (later, later + 6), seconds=60), said(2.0, 12.0))
    assert [(start, end) for start, end in missing] == [pytest.approx((later, later + 6), abs=0.1)]


def test_a_cough_is_nothing_and_more_than_a_second_is_something() -> None:
    assert found(track((2.0, 2.9), seconds=10)) == []
    assert found(track((2.0, 4.0), seconds=10)) == [pytest.approx((2.0, 4.0), abs=0.1)]


def test_what_a_second_reading_found_is_no_longer_without_words() -> None:
    missing = found(track((2.0, 6.0), (8.0, 11.0), seconds=14))
    assert still_without(missing, said(2.0, 6.0)) == [pytest.approx((8.0, 11.0), abs=0.1)]


@pytest.mark.parametrize("begins", [5.0, LOOK_S - 1.1, 2 * LOOK_S - 1.0])
def test_what_lies_across_the_end_of_a_look_is_one_stretch(begins: float) -> None:
    """Two halves of a second each were too short to count, each by itself."""
    noise = track((begins, begins + 2.2), seconds=60)
    noise[: round(0.1 * RATE)] = 0.1  # so that looks begin at the beginning
    assert found(noise) == [pytest.approx((begins, begins + 2.2), abs=0.1)]
