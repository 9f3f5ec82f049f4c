"""The shape of a sound: its loudest moments, wherever they are, in no more values than a screen shows."""

import numpy as np

from sederunt.jobs.peaks import MOST, PER_S, shape


def test_the_loudest_stands_where_it_was() -> None:
    sound = np.zeros(16_000 * 3, np.float32)
    sound[16_000 + 5] = -0.5
    found = shape(iter([sound[:20_000], sound[20_000:]]))
    assert found.index(100) == PER_S
    assert sum(found) == 100


def test_a_long_sound_is_kept_small_and_loses_no_peak() -> None:
    blocks = (np.full(16_000 * 30, 0.1, np.float32) for _ in range(60))
    click = np.zeros(16_000, np.float32)
    click[3] = 1.0
    found = shape(iter([*blocks, click]))
    assert len(found) == MOST
    assert max(found[-3:]) == 100
    assert found[0] == 10


def test_silence_and_nothing_are_flat() -> None:
    assert set(shape(iter([np.zeros(16_000, np.float32)]))) == {0}
    assert shape(iter([])) == [0]
