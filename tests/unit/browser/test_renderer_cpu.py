"""How much renderers ran lately, and what a page that answers nothing is given time for."""

import pytest

from sederunt.browser.renderer_cpu import KEPT_LOOKS, RendererCpu
from sederunt.browser.stopped_processes import ProcessState
from sederunt.meetings.session.page_reader import BUSY_S, FROZEN_S, LOOPING_FED_S, LOOPING_S, patience_s


class Watched:
    def __init__(self) -> None:
        self.now = 100.0
        self.renderer_cpu = RendererCpu(lambda: self.now)

    def look(self, **cpu_s: float) -> None:
        self.now += 1
        self.renderer_cpu.look(
            ProcessState(pid=int(pid[1:]), parent=1, session=1 if pid < "p1" or pid > "p2" else 2, started=1,
                         is_stopped=False, cpu_s=used)
            for pid, used in cpu_s.items()
        )  # fmt: skip


def test_the_busiest_renderer_of_the_browser_counts() -> None:
    watched = Watched()
    watched.look(p7=10.0, p8=20.0, p17=0.0)
    for second in range(6):
        watched.look(p7=10.0 + second * 0.9, p8=20.0 + second * 0.1, p17=second * 0.5)
    assert watched.renderer_cpu.most_s(1, 5.5, 5) == pytest.approx(4.5)
    assert watched.renderer_cpu.most_s(1, 2.5, 5) == pytest.approx(1.8)
    assert watched.renderer_cpu.most_s(2, 5.5, 5) == pytest.approx(2.5)
    assert watched.renderer_cpu.most_s(3, 5.5, 5) == 0.0


def test_what_a_renderer_used_before_the_first_look_is_not_counted_and_one_that_ended_is_forgotten() -> None:
    watched = Watched()
    watched.look(p7=500.0)
    assert watched.renderer_cpu.most_s(1, 60, 0) == 0.0
    for second in range(KEPT_LOOKS):
        watched.look(p7=500.0 + second)
    assert watched.renderer_cpu.most_s(1, 1000, KEPT_LOOKS - 1) == KEPT_LOOKS - 1
    watched.look(p8=1.0)
    assert watched.renderer_cpu.most_s(1, 1000, 0) == 0.0


def test_a_neighbour_that_ran_on_when_the_page_answered_is_not_taken_for_its_renderer() -> None:
    """p7 loops from the start; p8, whose browser is kept busy by that, answered three seconds later."""
    watched = Watched()
    for second in range(10):
        watched.look(p7=second * 0.95, p8=20.0 + second * 0.1)
    assert watched.renderer_cpu.most_s(1, 6, 6) == pytest.approx(0.6)


def test_a_neighbour_that_began_after_the_page_had_answered_is_not_taken_for_its_renderer() -> None:
    watched = Watched()
    for second in range(4):
        watched.look(p8=20.0 + second * 0.1)
    for second in range(6):
        watched.look(p7=second * 0.95, p8=21.0 + second * 0.1)
    assert watched.renderer_cpu.most_s(1, 6, 7) < 1.5


@pytest.mark.parametrize(
    ("is_fed", "renderer_cpu_s", "patience"),
    [(False, 0.4, FROZEN_S), (True, 3.9, BUSY_S), (False, 4.1, LOOPING_S), (True, 5.0, LOOPING_FED_S)],
)
def test_a_page_whose_renderer_never_pauses_is_given_up_sooner(
    is_fed: bool, renderer_cpu_s: float, patience: float
) -> None:
    assert patience_s(is_fed=is_fed, renderer_cpu_s=renderer_cpu_s) == patience
