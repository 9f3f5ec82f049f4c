"""Words counted as they are heard: spelling of numbers is no error, missing words are."""

import pytest

from sederunt.bench.transcribe import score, spread

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
    assert spread("one two three four", ["one two three four", "one two four", "one two three for"]) == 25.0
    assert spread("one two", ["one two"] * 3) == 0.0
