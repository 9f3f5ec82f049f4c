"""Windows become one line of time: voices keep their thread across windows, nothing is told twice."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.segmentation import FRAMES, SETS, FrameRegion, Stitcher, active, runs

HOP = 480


def heard(*spans: tuple[int, int, int]) -> NDArray[Any]:
    """A window in which voices speak: (voice, first frame, one past the last)."""
    window = np.zeros((FRAMES, 3), np.bool_)
    for voice, first, last in spans:
        window[first:last, voice] = True
    return window


def stitched(*windows: NDArray[Any]) -> list[FrameRegion]:
    stitcher = Stitcher()
    found = [region for n, window in enumerate(windows) for region in stitcher.add(n * HOP, window)]
    return [*found, *stitcher.end()]


def test_a_class_stands_for_the_voices_of_its_set() -> None:
    for number, members in enumerate(SETS):
        classes = np.full((1, len(SETS)), -9.0, np.float32)
        classes[0, number] = -0.1
        assert tuple(np.flatnonzero(active(classes)[0])) == members


def test_a_voice_goes_on_under_another_number_in_the_next_window() -> None:
    one, two = stitched(heard((0, 100, 589), (1, 0, 90)), heard((2, 0, 300), (0, 400, 500)))
    assert two.threads[2] == one.threads[0]
    assert two.threads[0] not in one.threads


def test_two_voices_at_once_are_not_confused() -> None:
    one, two = stitched(heard((0, 480, 589), (1, 530, 589)), heard((1, 0, 300), (0, 50, 200)))
    assert (two.threads[1], two.threads[0]) == (one.threads[0], one.threads[1])


def test_a_few_common_frames_link_nobody() -> None:
    one, two = stitched(heard((0, 0, 484)), heard((0, 0, 4), (1, 4, 300)))
    assert not set(one.threads) & set(two.threads)


def test_regions_follow_each_other_without_a_gap() -> None:
    regions = stitched(*(heard((0, 0, 589)) for _ in range(4)))
    assert regions[0].first == 0
    for before, after in itertools.pairwise(regions):
        assert before.first + len(before.active) == after.first
    assert regions[-1].first + len(regions[-1].active) == 3 * HOP + FRAMES


def test_runs_are_found_at_both_edges() -> None:
    assert runs([True, True, False, True]) == [(0, 2), (3, 4)]
    assert runs([]) == []
