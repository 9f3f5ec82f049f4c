"""Time is cut where anyone begins or ends, and voices are taken from people alone, within what it may cost."""

from collections.abc import Sequence

import numpy as np
import pytest

from sederunt.transcription.diarization.segmentation import FRAME, FRAME_S, FRAMES, WINDOW, FrameRegion
from sederunt.transcription.diarization.stretches import (
    LEAST_S,
    REGION_S,
    Cutter,
    Samples,
    Vector,
    VoiceStretch,
    shares,
    unit,
)


class Pitch:
    """Hears one of two voices by the sign of the sound, and notes how much it was given."""

    def __init__(self) -> None:
        self.heard_s: list[float] = []

    def voice(self, samples: Samples) -> Vector:
        self.heard_s.append(len(samples) / 16_000)
        return unit(np.array([samples.mean() > 0, samples.mean() <= 0], np.float32))


def stretches(spans: Sequence[tuple[int, int, int]], ears: Pitch, sound: Samples | None = None) -> list[VoiceStretch]:
    """What one window gives; spans as (voice, first frame, one past the last)."""
    active = np.zeros((FRAMES, 3), np.bool_)
    for voice, first, last in spans:
        active[first:last, voice] = True
    cutter = Cutter(ears)
    cutter.remember(0, np.ones(WINDOW, np.float32) if sound is None else sound)
    return [*cutter.add(FrameRegion(0, (7, 8, 9), active)), *cutter.end()]


def test_two_at_once_are_a_stretch_of_their_own_without_a_voice() -> None:
    found = stretches([(0, 0, 200), (1, 150, 400)], Pitch())
    assert [each.threads for each in found] == [(7,), (7, 8), (8,)]
    assert [each.voice is None for each in found] == [False, True, False]
    assert found[0].end == found[1].start == pytest.approx(150 * FRAME_S, abs=0.05)


def test_a_short_pause_ends_nothing_and_a_longer_one_does() -> None:
    assert len(stretches([(0, 0, 100), (0, 108, 200)], Pitch())) == 1
    assert len(stretches([(0, 0, 100), (0, 120, 200)], Pitch())) == 2


def test_a_glitch_between_two_people_is_nobodys_overlap() -> None:
    found = stretches([(0, 0, 102), (1, 100, 200)], Pitch())
    assert [each.threads for each in found] == [(7,), (8,)]


def test_a_long_stretch_in_which_the_voice_changes_is_two() -> None:
    sound = np.ones(WINDOW, np.float32)
    sound[WINDOW // 2 :] = -1
    found = stretches([(0, 0, FRAMES)], Pitch(), sound)
    assert len(found) == 2
    assert found[0].end == found[1].start == pytest.approx(5.0, abs=0.1)
    assert len(stretches([(0, 0, FRAMES)], Pitch())) == 1


def test_many_turns_do_not_cost_more_than_a_region_may() -> None:
    ears = Pitch()
    stretches([(n % 2, n * 58, n * 58 + 56) for n in range(10)], ears)
    assert sum(ears.heard_s) <= REGION_S + 0.1
    assert min(ears.heard_s) >= LEAST_S - 0.01


@pytest.mark.parametrize("lengths", [[], [0.1], [0.7] * 12, [8.0], [1.0, 6.0], [2.0, 2.0, 2.0]])
def test_shares_stay_within_the_lengths_and_the_limit(lengths: list[float]) -> None:
    found = shares(lengths)
    assert all(share <= length for share, length in zip(found, lengths, strict=True))
    assert all(share == 0 or share >= LEAST_S for share in found)
    assert sum(found) <= REGION_S + 1e-6
    assert any(found) == any(length >= LEAST_S for length in lengths)


def test_a_turn_goes_on_in_the_next_region() -> None:
    cutter = Cutter(Pitch())
    active = np.ones((480, 1), np.bool_)
    found = []
    for first in (0, 480):
        cutter.remember(first, np.ones(WINDOW, np.float32))
        found += list(cutter.add(FrameRegion(first, (7,), active)))
    found += list(cutter.end())
    assert len(found) == 1
    assert found[0].end - found[0].start == pytest.approx(960 * FRAME / 16_000, abs=0.1)
