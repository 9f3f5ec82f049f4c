"""Which stretch is decoded next."""

import numpy as np
import pytest

from sederunt.transcription.whisper.speech import FRAME_S, SpeechActivity
from sederunt.transcription.whisper.windows import LOOK, MARGIN_S, WINDOW_S, next_window, planned, until_silence

NEAR = pytest.approx


def sound(seconds: float, *spoken: tuple[float, float]) -> SpeechActivity:
    """A stretch in which somebody speaks between the given moments."""
    frames = round(seconds / FRAME_S)
    loudness, speech = np.full(frames, 0.0001, np.float32), np.zeros(frames, np.float32)
    for start, end in spoken:
        loudness[round(start / FRAME_S) : round(end / FRAME_S)] = 0.05
        speech[round(start / FRAME_S) : round(end / FRAME_S)] = 0.95
    return SpeechActivity(loudness, speech)


def test_silence_has_no_window() -> None:
    assert next_window(sound(20), last=False) is None
    assert next_window(sound(0), last=True) is None


def test_a_window_begins_a_little_before_the_first_sound() -> None:
    window = next_window(sound(22, (5.0, 8.0)), last=False)
    assert window is not None
    assert window.start == NEAR(5.0 - MARGIN_S, abs=FRAME_S)


def test_a_long_silence_ends_a_window_early() -> None:
    window = next_window(sound(22, (1.0, 4.0), (12.0, 15.0)), last=False)
    assert window is not None
    assert window.end == NEAR(4.0 + MARGIN_S, abs=FRAME_S)
    assert window.clean
    assert not window.full


def test_a_short_silence_stays_inside() -> None:
    window = next_window(sound(16, (1.0, 4.0), (6.0, 9.0)), last=True)
    assert window is not None
    assert window.end == NEAR(16 if 16 - 9 < 3 else 9 + MARGIN_S, abs=2 * FRAME_S)


def test_a_short_rest_is_one_window_to_its_end() -> None:
    window = next_window(sound(10, (0.5, 9.5)), last=True)
    assert window is not None
    assert window.end == NEAR(10, abs=FRAME_S)
    assert window.clean
    assert not window.full


def test_long_speech_is_cut_in_its_last_good_pause() -> None:
    window = next_window(sound(22, (0.0, 9.0), (9.5, 14.0), (14.5, 22.0)), last=False)
    assert window is not None
    assert window.end == NEAR(14.25, abs=2 * FRAME_S)
    assert window.clean
    assert window.full


def test_speech_without_a_pause_is_cut_at_the_limit_and_says_so() -> None:
    window = next_window(sound(22, (0.0, 22.0)), last=False)
    assert window is not None
    assert window.end == NEAR(WINDOW_S, abs=FRAME_S)
    assert not window.clean
    assert window.full


def paused(seconds: float) -> SpeechActivity:
    """Somebody who pauses for half a second after every five seconds and a half."""
    return sound(seconds, *((n * 6.0, n * 6.0 + 5.5) for n in range(int(seconds / 6))))


def test_windows_are_planned_one_behind_the_other_as_if_each_were_looked_at_alone() -> None:
    activity = paused(60)
    found = planned(activity, last=False, most=3)
    assert len(found) == 3
    assert all(window.clean for window in found)
    position = 0
    for window in found:
        alone = next_window(activity[position : position + LOOK], last=False)
        assert alone is not None
        assert window.start == NEAR(position * FRAME_S + alone.start, abs=FRAME_S)
        assert window.end == NEAR(position * FRAME_S + alone.end, abs=FRAME_S)
        position = round(window.end / FRAME_S)


def test_no_window_is_planned_behind_one_that_is_cut_in_mid_speech_or_a_long_silence() -> None:
    assert [window.clean for window in planned(sound(60, (0.0, 60.0)), last=True, most=3)] == [False]
    found = planned(sound(60, (1.0, 4.0), (20.0, 50.0)), last=True, most=3)
    assert [window.end for window in found] == [NEAR(4.0 + MARGIN_S, abs=FRAME_S)]


def test_no_window_is_planned_of_sound_that_was_not_looked_at() -> None:
    assert len(planned(paused(30), last=False, most=3)) == 1
    assert len(planned(paused(30), last=True, most=3)) == 2
    assert planned(sound(0), last=True, most=3) == []


def test_a_silence_in_which_nobody_can_be_heard_is_left_for_later() -> None:
    loudness = np.full(60 * 31, 0.01, np.float32)
    assert until_silence(loudness) == len(loudness)
    loudness[1000:1200] = 0.0
    assert until_silence(loudness) == 1000
    loudness[:LOOK] = 0.0
    assert until_silence(loudness) == 1000
    assert until_silence(loudness[:200]) == 200
