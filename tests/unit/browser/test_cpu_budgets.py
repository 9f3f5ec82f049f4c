"""Which renderers took more CPU than a page may, by looks at what the kernel says that they spent."""

import subprocess
import sys

import psutil
import pytest

from sederunt.browser.cpu_budgets import NICENESS, CpuBudgets, CpuVerdict, give_way
from sederunt.browser.stopped_processes import ProcessState


def renderer(cpu_s: float, pid: int = 1, started: int = 1) -> ProcessState:
    return ProcessState(pid=pid, parent=0, session=9, started=started, is_stopped=False, cpu_s=cpu_s)


def looked(cores: float, seconds: int, *, size: float = 120, per_s: float = 1) -> list[str]:
    """What is done to a page that takes so many cores from now on, and the second of each."""
    budgets, done = CpuBudgets(size=size, per_s=per_s), []
    for second in range(seconds):
        verdict = budgets.look([renderer(500 + cores * second)], now=1000.0 + second)
        done += [f"gives way at {second}" for _ in verdict.give_way]
        if verdict.end:
            return [*done, f"ends at {second}"]
    return done


@pytest.mark.parametrize(
    ("cores", "done"),
    [
        (0.2, []),
        (0.5, []),
        (1.0, ["gives way at 120"]),  # one endless loop, in a worker: it costs nobody but itself
        (2.0, ["gives way at 40", "ends at 120"]),
        (8.0, ["gives way at 8", "ends at 18"]),
    ],
)
def test_a_page_may_take_much_for_a_while_and_a_core_for_good(cores: float, done: list[str]) -> None:
    assert looked(cores, 3600) == done


def test_there_is_no_limit_where_the_operator_wants_none() -> None:
    assert looked(64, 1000, size=0) == []


def test_a_page_that_loads_slowly_fills_its_bucket_again() -> None:
    budgets, spent = CpuBudgets(size=120, per_s=1), 0.0
    for second in range(600):
        spent += 3.0 if second % 120 < 15 else 0.1
        verdict = budgets.look([renderer(spent)], now=float(second))
        assert verdict == CpuVerdict(give_way=[], end=[])


def test_a_process_that_has_the_number_of_another_begins_anew() -> None:
    budgets = CpuBudgets(size=10, per_s=1)
    budgets.look([renderer(0)], now=0)
    assert budgets.look([renderer(100, started=2)], now=1).end == []
    assert [state.pid for state in budgets.look([renderer(200, started=2)], now=2).end] == [1]


def test_all_threads_of_a_process_give_way() -> None:
    script = "import threading; threading.Thread(target=input, daemon=True).start(); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        give_way(child.pid)
        threads = [thread.id for thread in psutil.Process(child.pid).threads()]
        assert len(threads) == 2
        assert all(psutil.Process(thread).nice() >= NICENESS for thread in threads)
        child.kill()
    give_way(child.pid)  # it is gone meanwhile
