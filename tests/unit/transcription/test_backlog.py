"""Sound that waits: in order, part of it on disk, all of it there."""

import numpy as np
import pytest

from sederunt.transcription.backlog import Backlog


def piece(value: int, seconds: float = 1.0) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.full(round(seconds * 16_000), value, np.int16)


def filled(memory_s: float) -> Backlog:
    backlog = Backlog(memory_s=memory_s)
    for n in range(10):
        backlog.append(float(n), piece(n))
    return backlog


@pytest.mark.parametrize("memory_s", [0.0, 2.5, 60.0])
def test_everything_comes_back_in_order_wherever_it_lay(memory_s: float) -> None:
    backlog = filled(memory_s)
    assert backlog.seconds_after(0) == 10
    assert backlog.seconds_after(3.5) == 6.5
    assert [(start, int(samples[0]), len(samples)) for start, samples in backlog.all()] == [
        (float(n), n, 16_000) for n in range(10)
    ]
    taken = []
    while (found := backlog.take()) is not None:
        taken.append(found[0])
    assert taken == [float(n) for n in range(10)]
    assert not backlog


@pytest.mark.parametrize("memory_s", [0.0, 2.5, 60.0])
def test_what_is_answered_is_dropped_and_what_is_half_answered_stays(memory_s: float) -> None:
    backlog = filled(memory_s)
    backlog.drop_until(6.5)
    assert [start for start, _ in backlog.all()] == [6.0, 7.0, 8.0, 9.0]
    backlog.append(10.0, piece(10))
    assert [int(samples[0]) for _, samples in backlog.all()] == [6, 7, 8, 9, 10]


def test_memory_holds_no_more_than_it_shall() -> None:
    backlog = Backlog(memory_s=1.0)
    for n in range(100):
        backlog.append(float(n), piece(n))
    assert sum(chunk.samples is not None for chunk in (*backlog._on_disk, *backlog._in_memory)) == 1
    assert sum(len(samples) for _, samples in backlog.all()) == 100 * 16_000
    backlog.clear()
    assert backlog.take() is None
