"""Which renderer ends where those of a browser take too much memory together."""

import os

import psutil
import pytest

from sederunt.browser.memory_budget import beyond_memory
from sederunt.browser.stopped_processes import ProcessState, state_of


def renderer(pid: int, memory_mb: float, session: int = 9) -> ProcessState:
    return ProcessState(pid=pid, parent=0, session=session, started=1, is_stopped=False, memory_mb=memory_mb)


def ran_s(state: ProcessState) -> float:
    """Return that the first renderer ran most."""
    return -state.pid


@pytest.mark.parametrize(
    ("memory_mb", "bots", "ended"),
    [
        ([900, 900, 900, 1000], 1, []),  # 3,750 for one bot of 3,000
        ([900, 900, 1001, 1000], 1, [2]),
        ([400] * 9, 1, []),
        ([400] * 20, 8, []),
        ([400] * 22 + [500], 8, [22]),
        ([3800], 1, [0]),
    ],
)
def test_the_largest_process_of_a_browser_that_takes_too_much_ends(
    memory_mb: list[float], bots: int, ended: list[int]
) -> None:
    renderers = [renderer(pid, size) for pid, size in enumerate(memory_mb)]
    assert [state.pid for state in beyond_memory(renderers, {}, {9: bots}, 3000, ran_s)] == ended


def test_each_browser_has_its_own_limit_and_none_where_the_operator_wants_none() -> None:
    renderers = [renderer(1, 2000, 7), renderer(2, 2000, 8), renderer(3, 4000, 9)]
    assert [state.pid for state in beyond_memory(renderers, {}, {7: 1, 8: 1, 9: 1}, 3000, ran_s)] == [3]
    assert beyond_memory(renderers, {}, {}, 0, ran_s) == []


@pytest.mark.parametrize(("main_mb", "ended"), [(2900, []), (3000, [1]), (800, [])])
def test_what_lies_in_the_main_process_counts_and_ends_whoever_ran(main_mb: float, ended: list[int]) -> None:
    renderers = [renderer(1, 300), renderer(2, 500)]
    assert [state.pid for state in beyond_memory(renderers, {9: main_mb}, {9: 1}, 3000, ran_s)] == ended


def test_the_largest_ends_where_the_main_process_is_not_what_is_large() -> None:
    renderers = [renderer(1, 300), renderer(2, 3200)]
    assert [state.pid for state in beyond_memory(renderers, {9: 400}, {9: 1}, 3000, ran_s)] == [2]


def test_the_kernel_tells_what_a_process_takes() -> None:
    state, known = state_of(os.getpid()), psutil.Process().memory_info().rss / 1e6
    assert state is not None
    assert state.memory_mb == pytest.approx(known, rel=0.5)
