"""Words counted as they are heard: spelling of numbers is no error, missing words are."""

from pathlib import Path

import numpy as np
import pytest

from sederunt.bench.degraded import DEGRADED
from sederunt.bench.transcribe import CASES, SpeechSample, joined, score, spread
from sederunt.transcription.whisper.speech import RATE, Samples

COUNTED = "Ready? One, two, three, four, five, six, seven, eight, nine, ten. Go."


@pytest.mark.parametrize(
    "heard",
    [
        COUNTED,
        "Ready? 1, 2, 3, 4, 5, 6, 7, 8, 9, 10. Go.",
        "Ready? One, 2, 3, 4, 5, 6, 7, 8, 9, 10, go.",
        "ready 12345678910 go",
    ],
)
def test_how_numbers_are_written_is_no_error(heard: str) -> None:
    assert score(COUNTED, heard) == (13, 0.0, 0.0)


def test_numbers_that_are_wrong_or_missing_are_errors() -> None:
    assert score("in nineteen eighty four", "in 1985") == (5, 20.0, 0.0)
    words, errors, lost = score(COUNTED, "Ready? Go.")
    assert (words, errors, lost) == (13, 84.62, 84.62)


def test_a_run_of_missing_words_is_lost_speech_a_few_are_not() -> None:
    said = "it was the best of times it was the worst of times"
    assert score(said, "it was the best of times it was the times") == (12, 16.67, 0.0)
    assert score(said, "it was the best of times") == (12, 50.0, 50.0)


def test_the_spread_lies_between_the_best_and_the_worst_reading() -> None:
    said = "one two three four"
    assert spread([said] * 3, [said, "one two four", "one two three for"]) == 25.0
    assert spread(["one two"] * 3, ["one two"] * 3) == 0.0


def test_readings_of_other_orders_are_compared_of_other_words_not() -> None:
    assert spread(["one two three four", "three four one two"], ["one two three four", "three four one"]) == 25.0
    assert spread(["one two", "three four"], ["one two", "three"]) is None
    assert spread(["one two"], ["one"]) is None
    assert spread(["", ""], ["", "you"]) is None


def test_clips_in_a_row_are_heard_in_several_orders_which_never_change() -> None:
    clips = [SpeechSample(np.full(1600, 0.1 * n, np.float32), str(n)) for n in range(6)]
    first, again = (CASES["long"](clips, Path()).recordings for _ in range(2))
    texts = [text for _, text in first]
    assert texts[0] == "0 1 2 3 4 5"
    assert len(set(texts)) == 4
    assert {tuple(sorted(text.split())) for text in texts} == {tuple("012345")}
    assert texts == [text for _, text in again]


def test_each_way_of_making_speech_harder_is_a_case_of_two_orders() -> None:
    clips = [SpeechSample(np.float32(0.3) * _tone(n + 9), f"word{n}") for n in range(4)]
    for kind in DEGRADED:
        case = CASES[kind](clips, Path())
        assert case.name == kind
        (listed, first), (other, second) = case.recordings
        assert first == "word0 word1 word2 word3" != second
        assert sorted(first.split()) == sorted(second.split())
        assert isinstance(listed, np.ndarray)
        assert isinstance(other, np.ndarray)
        assert len(listed) == len(other) > RATE
        assert not np.array_equal(listed, joined(clips)[0])


def _tone(slowness: int) -> Samples:
    sound: Samples = np.sin(np.arange(RATE, dtype=np.float32) / np.float32(slowness))
    return sound
