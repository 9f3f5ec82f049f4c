"""Which words of successive readings stay."""

import pytest

from sederunt.transcription.whisper.decoding import TimedWord
from sederunt.transcription.whisper.live.hypothesis import Hypothesis, Steadiness, before_edge, common


def words(text: str, *, pace_s: float = 0.3) -> list[TimedWord]:
    """Words of even length, one behind the other."""
    return [
        TimedWord(f" {word}", n * pace_s, (n + 1) * pace_s, 0.9) for n, word in enumerate(text.split())
    ]  # fmt: skip


def text(found: tuple[TimedWord, ...]) -> str:
    return "".join(word.text for word in found).strip()


def test_words_agree_whatever_their_case_and_punctuation() -> None:
    assert common(words("It was the Best."), words("it was, the best of times")) == 4
    assert common(words("It was"), words("That was")) == 0


def test_words_before_the_edge_end_with_the_first_that_reaches_it() -> None:
    assert before_edge(words("one two three four"), 0.95) == 3
    assert before_edge(words("one two"), 10) == 2
    assert before_edge([], 1) == 0


def test_a_word_is_stable_once_two_readings_have_it() -> None:
    steady = Steadiness(edge_s=0.0)
    first = Hypothesis().next(words("it was the bet"), 1.2, steady)
    assert text(first.stable) == ""
    second = first.next(words("it was the best of times"), 1.8, steady)
    assert text(second.stable) == "it was the"
    assert text(second.shown(1.8, steady)) == "it was the best of times"


def test_words_at_the_edge_of_the_sound_are_not_believed_though_readings_agree() -> None:
    steady = Steadiness(edge_s=0.5)
    heard = Hypothesis().next(words("it was the best"), 1.2, steady).next(words("it was the best"), 1.2, steady)
    assert text(heard.stable) == "it was"


def test_one_reading_can_be_enough_inside_the_edge() -> None:
    steady = Steadiness(edge_s=0.5, agreements=1)
    assert text(Hypothesis().next(words("it was the best"), 1.2, steady).stable) == "it was"


@pytest.mark.parametrize(("show_edge", "shown"), [(True, "it was the best"), (False, "it was")])
def test_drafts_show_the_edge_or_hide_it(show_edge: bool, shown: str) -> None:
    steady = Steadiness(edge_s=0.5, show_edge=show_edge)
    assert text(Hypothesis().next(words("it was the best"), 1.2, steady).shown(1.2, steady)) == shown
