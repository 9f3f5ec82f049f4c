"""What a browser costs each of its bots, with processes that are none."""

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from sederunt.browser.costs import SharedCost

# Burns as much as it is asked for, in a child of its own, and says when it has.
_BURN = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", '''
import sys, time
for line in sys.stdin:
    until = time.process_time() + float(line)
    while time.process_time() < until: pass
    print("burnt", flush=True)
'''], stdin=sys.stdin)
child.wait()
"""


class Burner:
    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", _BURN], text=True, **pipes)  # type: ignore[call-overload]

    def burn(self, seconds: float) -> None:
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "burnt\n"

    def spent_s(self) -> float:
        root = psutil.Process(self.process.pid)
        times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
        return sum(each.user + each.system for each in times)


@pytest.fixture
def burner() -> Iterator[Burner]:
    made = Burner()
    yield made
    made.process.stdin.close()
    made.process.wait(30)
    made.process.stdout.close()


async def test_what_was_spent_is_borne_by_who_sat_there(burner: Burner) -> None:
    shared, pid = SharedCost(), burner.process.pid
    burner.burn(0.2)
    first = await shared.settle(pid, 0)  # the first bot comes: the start is nobody else's
    begun_s = burner.spent_s()
    burner.burn(0.2)
    alone_s = burner.spent_s() - begun_s
    second = await shared.settle(pid, 1)  # another one comes
    burner.burn(0.4)
    together_s = burner.spent_s() - begun_s - alone_s
    cost = await shared.of_one(pid, 2, first)
    assert cost.cpu_s == pytest.approx(alone_s + together_s / 2, abs=0.05)
    other = await shared.of_one(pid, 2, second)
    assert other.cpu_s == pytest.approx(together_s / 2, abs=0.05)
    assert cost.memory_mib is not None
    assert 0.5 < cost.memory_mib < 200


@pytest.fixture
def ended_pid() -> int:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


async def test_a_browser_that_is_gone_costs_nothing_more(ended_pid: int) -> None:
    shared = SharedCost()
    for pid in (0, ended_pid):
        cost = await shared.of_one(pid, 1, await shared.settle(pid, 0))
        assert (cost.cpu_s, cost.memory_mib) == (0.0, None)
