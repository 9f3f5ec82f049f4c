"""What was told when, judged against what was said when."""

from typing import Any

import pytest

from sederunt.bench.live_speech import SaidWord, Told, ends, judge

NEAR: Any = pytest.approx
SAID = [SaidWord(word, n * 0.5, n * 0.5 + 0.4) for n, word in enumerate(["good", "day", "to", "you"])]
SAID.append(SaidWord("sir", 5.0, 5.4))


def told(at: float, text: str, *, final: bool = False, segment: str = "1", start: float = 0, end: float = 2) -> Told:
    return Told(
        at=at, segment_id=segment, transcript=text, start=start, end=end, final=final, fixed_s=end if final else 0.0
    )


def test_speech_ends_before_a_pause_and_at_the_end() -> None:
    assert ends(SAID) == [NEAR(1.9), NEAR(5.4)]


def test_a_word_counts_as_shown_when_it_is_first_told() -> None:
    found = judge([told(1.0, "Good day"), told(2.5, "Good day to you.", final=True)], SAID)
    assert found.shown_s == (NEAR(0.6), NEAR(0.1), NEAR(1.1), NEAR(0.6))


def test_words_told_otherwise_are_revised() -> None:
    found = judge([told(1.0, "good bay"), told(2.0, "good day to"), told(2.5, "Good day to you", final=True)], SAID)
    assert (found.revised, found.words) == (1, 4)


def test_what_was_said_is_final_when_it_is_fixed() -> None:
    sir = told(6.2, "Sir.", final=True, segment="2", start=5, end=5.4)
    found = judge([told(2.5, "good day to you", final=True), sir], SAID)
    assert found.final_s == (NEAR(0.6), NEAR(0.8))
    assert found.text == "good day to you Sir."


def test_what_is_never_final_has_no_time() -> None:
    assert judge([told(2.5, "good day to you")], SAID).final_s == (float("inf"), float("inf"))
