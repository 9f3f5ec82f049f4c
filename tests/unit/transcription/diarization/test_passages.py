"""Sound is cut where the detector hears a pause: nothing said is lost, nothing is told twice, whatever the blocks."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sederunt.transcription.diarization.passages import BESIDE, ENDS, LONG, LONGEST, SpokenPassage, closed, passages
from sederunt.transcription.whisper.live.detector import Hearing
from sederunt.transcription.whisper.speech import FRAME, FRAME_S, Samples


def hear(samples: Samples) -> Hearing:
    """A detector that hears speech where the sound is loud, and is as sure as it is loud."""
    level = samples.reshape(-1, FRAME).max(axis=1)
    return Hearing(level, np.zeros(len(level), np.bool_))


def found_in(flags: Sequence[bool] | NDArray[np.bool_], block: int = 5000, loud: float = 0.9) -> list[SpokenPassage]:
    sound = np.repeat(np.asarray(flags, np.float32) * np.float32(loud), FRAME)
    return list(passages(np.array_split(sound, max(1, len(sound) // block)), hear))


def spoken(found: Sequence[SpokenPassage], frames: int) -> NDArray[np.int64]:
    """How many passages have speech in each frame."""
    told = np.zeros(frames, np.int64)
    for each in found:
        at = each.first // FRAME
        told[at : at + len(each.speech)] += each.speech
    return told


def flags(*runs: tuple[bool, int]) -> NDArray[np.bool_]:
    return np.concatenate([np.full(count, value, np.bool_) for value, count in runs])


def test_a_pause_ends_a_passage_and_a_shorter_one_does_not() -> None:
    one, two = found_in(flags((False, 40), (True, 30), (False, ENDS - 1), (True, 20), (False, ENDS), (True, 9)))
    assert one.first == (40 - BESIDE) * FRAME
    assert len(one.samples) == (BESIDE + 30 + ENDS - 1 + 20 + ENDS) * FRAME
    assert int(two.speech.sum()) == 9
    assert one.start_s == pytest.approx((40 - BESIDE) * FRAME_S)


def test_a_long_passage_ends_in_a_shorter_pause() -> None:
    assert len(found_in(flags((True, LONG), (False, 8), (True, 20)))) == 2
    assert len(found_in(flags((True, LONG - 30), (False, 8), (True, 20)))) == 1


def test_who_never_pauses_is_cut_in_time() -> None:
    found = found_in(flags((True, 3 * LONGEST + 50)))
    assert [len(each.speech) <= LONGEST + 2 * BESIDE for each in found] == [True] * 4
    assert (spoken(found, 3 * LONGEST + 50) == 1).all()


def test_what_the_detector_is_not_sure_of_opens_nothing() -> None:
    assert found_in(flags((True, 50)), loud=0.35) == []
    assert len(found_in(flags((True, 50)), loud=0.45)) == 1


def test_silence_is_forgotten() -> None:
    assert found_in(flags((False, 5000))) == []
    assert list(passages([], hear)) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 400)), max_size=8), st.integers(300, 90_000))
def test_all_that_is_said_is_in_one_passage(runs: list[tuple[bool, int]], block: int) -> None:
    said = flags((False, 1), *runs)
    found = found_in(said, block)
    told = spoken(found, len(said) + 1)[: len(said)]
    lasting = said & (np.convolve(said, np.ones(2), "full")[:-1] == 2)  # not a single frame
    assert told.max() <= 1
    assert int((told[lasting] == 0).sum()) <= len(found)  # one frame may be left behind a cut in the midst of speech
    assert all(one.first < two.first for one, two in itertools.pairwise(found))
    whole = found_in(said, 10**9)
    assert [(each.first, len(each.samples)) for each in whole] == [(each.first, len(each.samples)) for each in found]


def test_short_pauses_are_speech_and_edges_are_not() -> None:
    speech = flags((False, 2), (True, 3), (False, 4), (True, 2), (False, 5), (True, 1), (False, 3))
    assert closed(speech, 4).tolist() == flags((False, 2), (True, 9), (False, 5), (True, 1), (False, 3)).tolist()
