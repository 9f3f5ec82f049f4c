"""What was told when, judged against what was said when."""

from typing import Any

import numpy as np
import pytest

from sederunt.bench.live_speech import SaidWord, Told, ends, judge, shift_between
from sederunt.transcription.whisper.speech import RATE, Samples

NEAR: Any = pytest.approx
SAID = [SaidWord(word, n * 0.5, n * 0.5 + 0.4) for n, word in enumerate(["good", "day", "to", "you"])]
SAID.append(SaidWord("sir", 5.0, 5.4))
ENDS = (1.9, 5.4)


def told(at: float, text: str, *, final: bool = False, segment: str = "1", start: float = 0, end: float = 2) -> Told:
    return Told(
        at=at, segment_id=segment, transcript=text, start=start, end=end, final=final, fixed_s=end if final else 0.0
    )


def tones(*parts: tuple[float, float, float]) -> Samples:
    """Faint noise, and in it (Hz, from, until) at a twentieth of full scale."""
    clock = np.arange(8 * RATE) / RATE
    sound = np.random.default_rng(1).normal(0, 0.001, len(clock))
    for hz, start, stop in parts:
        sound += 0.05 * np.sin(2 * np.pi * hz * clock) * ((clock >= start) & (clock < stop))
    return sound.astype(np.float32)


def test_speech_ends_before_a_pause_and_at_the_end() -> None:
    assert ends(SAID, tones((300, 0, 1.9), (300, 5, 5.4))) == [NEAR(1.9, abs=0.03), NEAR(5.4, abs=0.03)]


def test_speech_ends_where_its_sound_does_though_the_word_was_thought_over() -> None:
    hiss = tones((300, 0, 1.9), (5000, 1.95, 2.3), (300, 5, 5.4))
    assert ends(SAID, hiss)[0] == NEAR(2.3, abs=0.03)


def test_a_sound_behind_a_pause_is_not_the_end_of_speech() -> None:
    later = tones((300, 0, 1.9), (300, 2.2, 2.6), (300, 5, 5.4))
    assert ends(SAID, later)[0] == NEAR(1.9, abs=0.03)


def test_words_by_another_clock_tell_how_far_it_is_off() -> None:
    heard = [SaidWord(word.text, word.start + 7.5, word.end + 7.5) for word in SAID[1:]]
    assert shift_between([SaidWord("hm", 1.0, 1.2), *heard], SAID) == NEAR(-7.5)
    assert shift_between([], SAID) == 0.0


def test_a_word_counts_as_shown_when_it_is_first_told() -> None:
    found = judge([told(1.0, "Good day"), told(2.5, "Good day to you.", final=True)], SAID, ENDS)
    assert found.shown_s == (NEAR(0.6), NEAR(0.1), NEAR(1.1), NEAR(0.6))


def test_words_told_otherwise_are_revised() -> None:
    found = judge(
        [told(1.0, "good bay"), told(2.0, "good day to"), told(2.5, "Good day to you", final=True)], SAID, ENDS
    )
    assert (found.revised, found.words) == (1, 4)


def test_what_was_said_is_final_when_it_is_fixed() -> None:
    sir = told(6.2, "Sir.", final=True, segment="2", start=5, end=5.4)
    found = judge([told(2.5, "good day to you", final=True), sir], SAID, ENDS)
    assert found.final_s == (NEAR(0.6), NEAR(0.8))
    assert found.text == "good day to you Sir."


def test_what_is_never_final_has_no_time() -> None:
    assert judge([told(2.5, "good day to you")], SAID, ENDS).final_s == (float("inf"), float("inf"))
