"""Time is cut where anyone begins or ends, and voices are taken from people alone, within what it may cost."""

from collections.abc import Sequence

import numpy as np
import pytest

from sederunt.transcription.diarization.segmentation import FRAME_S, RATE
from sederunt.transcription.diarization.voice_stretches import (
    LEAST_S,
    PASSAGE_S,
    SAVED_S,
    SHARE,
    Cutter,
    Samples,
    Vector,
    VoiceStretch,
    is_narrow,
    shares,
    unit,
)

# A passage of ten seconds.
FRAMES, WINDOW = 589, 10 * RATE


class Pitch:
    """Hears one of two voices by the sign of the sound, and notes how much it was given."""

    def __init__(self) -> None:
        self.heard_s: list[float] = []

    def voice(self, samples: Samples) -> Vector:
        self.heard_s.append(len(samples) / 16_000)
        return unit(np.array([samples.mean() > 0, samples.mean() <= 0], np.float32))


def stretches(spans: Sequence[tuple[int, int, int]], ears: Pitch, sound: Samples | None = None) -> list[VoiceStretch]:
    """What one passage gives; spans as (voice, first frame, one past the last)."""
    active = np.zeros((FRAMES, 3), np.bool_)
    for voice, first, last in spans:
        active[first:last, voice] = True
    return list(Cutter(ears).add(0.0, np.ones(WINDOW, np.float32) if sound is None else sound, active))


def test_two_at_once_are_a_stretch_of_their_own_without_a_voice() -> None:
    found = stretches([(0, 0, 200), (1, 150, 400)], Pitch())
    assert [each.threads for each in found] == [(0,), (0, 1), (1,)]
    assert [each.voice is None for each in found] == [False, True, False]
    assert found[0].end == found[1].start == pytest.approx(150 * FRAME_S, abs=0.05)


def test_a_short_pause_ends_nothing_and_a_longer_one_does() -> None:
    assert len(stretches([(0, 0, 100), (0, 108, 200)], Pitch())) == 1
    assert len(stretches([(0, 0, 100), (0, 120, 200)], Pitch())) == 2


def test_a_glitch_between_two_people_is_nobodys_overlap() -> None:
    found = stretches([(0, 0, 102), (1, 100, 200)], Pitch())
    assert [each.threads for each in found] == [(0,), (1,)]


def test_a_voice_that_flickers_between_two_is_one_and_the_longer() -> None:
    flicker = [(0, 0, 60), *((voice, 60 + 6 * n, 66 + 6 * n) for n, voice in enumerate((1, 0, 1, 0, 1))), (0, 90, 150)]
    assert [each.threads for each in stretches(flicker, Pitch())] == [(0,)]
    apart = [(0, 0, 60), (1, 60, 80), (0, 80, 150)]
    assert [each.threads for each in stretches(apart, Pitch())] == [(0,), (1,), (0,)]


def test_a_long_stretch_in_which_the_voice_changes_is_two() -> None:
    sound = np.ones(WINDOW, np.float32)
    sound[WINDOW // 2 :] = -1
    found = stretches([(0, 0, FRAMES)], Pitch(), sound)
    assert len(found) == 2
    assert found[0].end == found[1].start == pytest.approx(5.0, abs=0.1)
    assert len(stretches([(0, 0, FRAMES)], Pitch())) == 1


def test_many_turns_do_not_cost_more_than_is_saved() -> None:
    ears = Pitch()
    stretches([(n % 2, n * 58, n * 58 + 56) for n in range(10)], ears)
    assert sum(ears.heard_s) <= SAVED_S + 0.1
    assert min(ears.heard_s) >= LEAST_S - 0.01


def test_what_a_voice_is_taken_from_is_saved_between_passages() -> None:
    ears, active = Pitch(), np.ones((FRAMES, 1), np.bool_)
    cutter = Cutter(ears)
    for n in range(20):
        list(cutter.add(10.0 * n, np.ones(WINDOW, np.float32), active))
    assert sum(ears.heard_s) <= SAVED_S + SHARE * 200 + 0.1
    ears.heard_s.clear()
    short = active[: round(1.5 / FRAME_S)]
    list(cutter.add(200.0, np.ones(round(1.6 * RATE), np.float32), short))
    assert sum(ears.heard_s) >= PASSAGE_S - 0.01  # however little was saved
    ears.heard_s.clear()
    list(cutter.add(900.0, np.ones(WINDOW, np.float32), active))
    assert sum(ears.heard_s) == pytest.approx(3.0, abs=0.01)


def test_voices_of_two_passages_are_never_one_thread() -> None:
    cutter, active = Cutter(Pitch()), np.ones((FRAMES, 3), np.bool_)
    one, two = (list(cutter.add(start, np.ones(WINDOW, np.float32), active)) for start in (0.0, 10.0))
    assert not set(one[0].threads) & set(two[0].threads)
    assert two[0].start == pytest.approx(10.0, abs=0.05)


@pytest.mark.parametrize("lengths", [[], [0.1], [0.7] * 12, [8.0], [1.0, 6.0], [2.0, 2.0, 2.0]])
def test_shares_stay_within_the_lengths_and_the_limit(lengths: list[float]) -> None:
    found = shares(lengths, 3.5)
    assert all(share <= length for share, length in zip(found, lengths, strict=True))
    assert all(share == 0 or share >= LEAST_S for share in found)
    assert sum(found) <= 3.5 + 1e-6
    assert any(found) == any(length >= LEAST_S for length in lengths)


@pytest.mark.parametrize(("lowest", "highest", "narrow"), [(300, 3400, True), (0, 3400, False), (300, 8000, False)])
def test_the_telephone_is_known_by_its_band(lowest: float, highest: float, *, narrow: bool) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000)
    spectrum, hz = np.fft.rfft(noise), np.fft.rfftfreq(16_000, 1 / 16_000)
    spectrum[(hz < lowest) | (hz > highest)] = 0
    if lowest == 0:
        spectrum[hz <= 200] *= 5
    assert is_narrow(np.fft.irfft(spectrum).astype(np.float32)) is narrow
