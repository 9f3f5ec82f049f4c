"""The supervisor with real processes. It runs in a process of its own: it kills what it does not know."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness.service import until
from sederunt.cli.supervisor import FIRST_PAUSE_S

# Keeps two roles running: `plain`, which has a child of its own, and `stubborn`, which ignores SIGTERM.
SUPERVISOR = """
import asyncio, signal, sys
from pathlib import Path
from sederunt import log
from sederunt.cli.supervisor import Role, Supervisor

log.configure()

PLAIN = '''
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print('{"ready": "plain"}', flush=True)
print(f"child {child.pid}", file=sys.stderr, flush=True)
time.sleep(600)
'''
STUBBORN = '''
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('{"ready": "stubborn"}', flush=True)
time.sleep(600)
'''

async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    supervisor = Supervisor(Path(sys.argv[1]))
    roles = {"plain": PLAIN, "stubborn": STUBBORN}
    children = [
        supervisor.start(Role(name=name, command=(sys.executable, "-c", code))) for name, code in roles.items()
    ]
    for child in children:
        await child.ready.wait()
    print("ready", flush=True)
    await stop.wait()
    # Long enough for `plain` to end on a busy machine: half a second goes to the pipes that its child holds open.
    print("killed", *await supervisor.stop(list(roles), 6), flush=True)
    await supervisor.clear_strays()

asyncio.run(main())
"""

FULL = Path("/dev/full")  # a disk without room
READY = """import time; print('{"ready": 1}', flush=True); time.sleep(600)"""  # a child that says that it is


class Supervised:
    def __init__(self, run: Path, log: Path | None = None) -> None:
        self.run = run
        self.log = log or run / "log"
        run.mkdir(exist_ok=True)
        with self.log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISOR, str(run)], stdout=subprocess.PIPE, stderr=file, text=True
            )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready", self.log.read_text()

    def pid(self, name: str) -> int:
        return int((self.run / f"{name}.pid").read_text())

    def grandchild(self) -> int:
        """The newest child of `plain`. Raises ValueError before the first."""
        return int(self.log.read_text().rpartition("plain  | child ")[2].partition("\n")[0])

    def pauses_s(self) -> list[float]:
        """How long those that ended waited for their successors."""
        ends = [json.loads(line) for line in self.log.read_text().splitlines() if "role_ended" in line]
        return [end["pause_s"] for end in ends]

    def playing(self, name: str, *, but: psutil.Process | None = None) -> psutil.Process | None:
        """The process that plays a role now, pid file or not; None in between, or where it is still the old one."""
        children = psutil.Process(self.process.pid).children()
        return next((child for child in children if child != but and f'"ready": "{name}"' in said_to(child)), None)

    def everyone(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    with ended(Supervised(tmp_path / "run")) as supervised:
        yield supervised


@contextmanager
def ended(supervised: Supervised) -> Iterator[Supervised]:
    """Gone with everything it started at the end of the block."""
    try:
        yield supervised
    finally:
        end(supervised)


def end(supervised: Supervised) -> None:
    # By its own way out: to kill its children one by one has it start others meanwhile, which nobody would end.
    supervised.process.terminate()
    try:
        supervised.process.wait(30)
    except subprocess.TimeoutExpired:
        for process in supervised.everyone():
            process.kill()
        supervised.process.kill()
        supervised.process.wait()


def said_to(process: psutil.Process) -> str:
    """Its command line; nothing where it has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def gone(pid: int) -> Callable[[], bool]:
    def ended() -> bool:
        try:
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    return ended


def test_a_killed_child_runs_again_at_once(supervised: Supervised) -> None:
    old = supervised.pid("plain")
    os.kill(old, signal.SIGKILL)
    until(lambda: supervised.pid("plain") != old, "another pid")
    assert supervised.pid("stubborn")
    assert supervised.pauses_s() == [FIRST_PAUSE_S]


def test_what_a_killed_child_leaves_behind_is_killed_before_its_successor_starts(supervised: Supervised) -> None:
    old, orphan = supervised.pid("plain"), until(supervised.grandchild, "the grandchild")
    os.kill(old, signal.SIGKILL)
    until(lambda: supervised.pid("plain") != old, "another pid")
    assert gone(orphan)()
    until(lambda: supervised.grandchild() != orphan, "another grandchild")


def test_children_die_with_a_supervisor_that_is_killed(supervised: Supervised) -> None:
    children = [supervised.pid("plain"), supervised.pid("stubborn")]
    grandchild = until(supervised.grandchild, "the grandchild")
    supervised.process.kill()
    for child in children:
        until(gone(child), "the child's end")
    # Its own children have nobody left to end them; browsers notice that their driver is gone.
    os.kill(grandchild, signal.SIGKILL)


def test_who_does_not_end_when_asked_is_killed_and_nothing_stays(supervised: Supervised) -> None:
    everyone = supervised.everyone()
    supervised.process.terminate()
    assert supervised.process.stdout is not None
    assert supervised.process.stdout.read().strip() == "killed stubborn"
    supervised.process.wait(60)
    assert len(everyone) == 3
    for process in everyone:
        until(gone(process.pid), "its end")


def test_a_role_lives_on_while_neither_log_nor_pid_file_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "stubborn.pid").mkdir()
    with ended(Supervised(tmp_path, log=FULL)) as supervised:
        for name in ("plain", "stubborn"):
            role = until(partial(supervised.playing, name), name)
            role.kill()
            until(partial(supervised.playing, name, but=role), f"another {name}")


def test_a_start_that_fails_is_a_life_that_ended(tmp_path: Path) -> None:
    done = supervise(
        """
    too_long = {"X": "x" * (1 << 20)}  # the system refuses to start a program with it
    child = supervisor.start(Role(name="late", command=(sys.executable, "-c", READY), environment=too_long))
    while child.restarts < 2:
        await asyncio.sleep(0.05)
    too_long.clear()
    await child.ready.wait()
    await supervisor.stop(["late"], 1)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    ends = [json.loads(line) for line in done.stderr.splitlines() if "role_ended" in line]
    assert "Argument list too long" in ends[0]["error"]
    assert ends[0]["pause_s"] == FIRST_PAUSE_S < ends[1]["pause_s"]


def test_a_child_whose_lines_nobody_can_keep_does_not_block_in_its_writing(tmp_path: Path) -> None:
    done = supervise(
        """
    chatty = (sys.executable, "-c", "import sys; sys.stderr.write(('x' * 1000 + chr(10)) * 4000); " + READY)
    full = open("/dev/full", "w")  # to close it would fail, too
    supervisor = Supervisor(Path(sys.argv[1]), write_log=full)
    child = supervisor.start(Role(name="chatty", command=chatty))
    async with asyncio.timeout(60):
        await child.ready.wait()
    await supervisor.stop(["chatty"], 1)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("reader", ["idle", "gone"])
def test_a_log_that_nobody_reads_costs_lines_and_neither_a_role_nor_its_supervisor(tmp_path: Path, reader: str) -> None:
    done = supervise(
        f"""
    import os
    read_end, write_end = os.pipe()
    said = os.dup(2)
    os.dup2(write_end, 2)
    os.close(write_end)
    if {reader!r} == "gone":
        os.close(read_end)
    chatty = (sys.executable, "-c", "import sys; sys.stderr.write(('x' * 1000 + chr(10)) * 400); " + READY)
    child = supervisor.start(Role(name="chatty", command=chatty))
    async with asyncio.timeout(60):
        await child.ready.wait()
    log.get().warning("of the supervisor itself")
    await supervisor.stop(["chatty"], 1)
    if {reader!r} == "idle":
        os.read(read_end, 1 << 20)
        log.get().warning("read again")
        os.write(said, os.read(read_end, 1 << 20))
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    if reader == "idle":
        lost, again = (json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
        assert (lost["action"], again["event"]) == ("log_lines_lost", "read again")
        assert lost["lines"] > 300


def supervise(steps: str, run: Path) -> subprocess.CompletedProcess[str]:
    """Take these steps with a supervisor, in a process of its own."""
    code = f"""
import asyncio, sys
from pathlib import Path
from sederunt import log
from sederunt.cli.supervisor import Role, Supervisor

log.configure()

READY = {READY!r}

async def main():
    supervisor = Supervisor(Path(sys.argv[1]))
{steps}
asyncio.run(main())
"""
    return subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, timeout=120)


def test_a_child_that_ends_again_and_again_is_started_again_each_time(tmp_path: Path) -> None:
    done = supervise(
        """
    child = supervisor.start(Role(name="broken", command=(sys.executable, "-c", "raise SystemExit(3)")))
    while child.restarts < 3:
        await asyncio.sleep(0.05)
    await supervisor.stop(["broken"], 1)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_a_role_is_replaced_by_one_that_is_ready_and_kept_where_there_is_none(tmp_path: Path) -> None:
    """Its pid file, its predecessor that drains, and what the one leaves behind while the other still runs."""
    done = supervise(
        """
    import signal
    code = '''
import os, signal, sys, time
signal.signal(signal.SIGUSR2, lambda *_: open(sys.argv[1] + "/asked", "w").close())
if os.path.exists(sys.argv[1] + "/broken"):
    raise SystemExit(1)
print('{"ready": 1}', flush=True)
while not os.path.exists(sys.argv[1] + "/end"):
    time.sleep(0.05)
'''
    run = Path(sys.argv[1])
    child = supervisor.start(Role(name="host", command=(sys.executable, "-c", code, str(run))))
    await child.ready.wait()
    first = child.pid
    (run / "broken").touch()
    assert not await supervisor.replace("host", by=signal.SIGUSR2, within_s=60)
    assert child.pid == first == supervisor.pids()["host"] == int((run / "host.pid").read_text())
    (run / "broken").unlink()
    replacing = asyncio.create_task(supervisor.replace("host", by=signal.SIGUSR2, within_s=60))
    while not (run / "asked").exists():
        await asyncio.sleep(0.05)
    second = supervisor.pids()["host"]
    assert second not in (None, first) and int((run / "host.pid").read_text()) == second
    assert await supervisor.clear_strays() == 0, "it drains"
    assert child.pid == first
    (run / "end").touch()
    assert await replacing
    await supervisor.stop(["host"], 60)
    assert not (run / "host.pid").exists()
    print(await supervisor.clear_strays(), child.restarts)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0 0"


def test_what_grandchildren_left_is_collected_while_the_role_goes_on(tmp_path: Path) -> None:
    """Each browser leaves three processes to whoever started its parents; uncollected they fill the table."""
    done = supervise(
        """
    import psutil
    code = '''
import subprocess, sys, time
subprocess.run(["sh", "-c", "sleep 0.2 & sleep 0.2 & sleep 600 &"])
print('{"ready": 1}', flush=True)
time.sleep(600)
'''
    child = supervisor.start(Role(name="host", command=(sys.executable, "-c", code)))
    await child.ready.wait()
    ours = psutil.Process()
    while sum(one.status() == psutil.STATUS_ZOMBIE for one in ours.children()) < 2:
        await asyncio.sleep(0.05)
    collected = await supervisor.collect_ended()
    left = sorted(one.status() == psutil.STATUS_ZOMBIE for one in ours.children())
    print(collected, left, child.restarts, await supervisor.collect_ended())
    await supervisor.stop(["host"], 60)
    print(await supervisor.clear_strays())
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["2 [False, False] 0 0", "0", ""]


def test_a_service_that_stops_in_the_middle_of_a_replacement_ends_both(tmp_path: Path) -> None:
    done = supervise(
        """
    import signal
    code = "import signal; signal.signal(signal.SIGUSR2, signal.SIG_IGN); " + READY
    child = supervisor.start(Role(name="host", command=(sys.executable, "-c", code)))
    await child.ready.wait()
    first = child.pid
    replacing = asyncio.create_task(supervisor.replace("host", by=signal.SIGUSR2, within_s=600))
    while supervisor.pids()["host"] == first:
        await asyncio.sleep(0.05)
    replacing.cancel()
    assert await supervisor.stop(["host"], 60) == []
    print(child.pid, supervisor.pids()["host"], await supervisor.clear_strays())
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "None None 0"


def test_the_next_program_of_a_process_takes_over_its_roles_their_lines_and_its_signals(tmp_path: Path) -> None:
    done = supervise(
        """
    import os, signal
    from sederunt.cli.self_exec import Inheritance, go_on, inherited, signals_wait
    code = '''
import os, sys, time
print('{"ready": 1}', flush=True)
while not os.path.exists(sys.argv[1] + "/speak"):
    time.sleep(0.05)
print("heard", os.getpid(), file=sys.stderr, flush=True)
time.sleep(600)
'''
    run, stop, before = Path(sys.argv[1]), asyncio.Event(), inherited()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    role = Role(name="host", command=(sys.executable, "-c", code, str(run)))
    if before is None:
        child = supervisor.start(role)
        await child.ready.wait()
        lock, listener = os.open(run / "lock", os.O_CREAT), os.open(run / "listener", os.O_CREAT)
        signals_wait(True)
        os.kill(os.getpid(), signal.SIGTERM)
        print(child.pid, flush=True)
        raise SystemExit(go_on(Inheritance(
            lock=lock, listener=listener, database=None, replaced=1, roles=supervisor.running()
        )))
    signals_wait(False)
    await stop.wait()
    assert all(os.fstat(number) for number in (before.lock, before.listener))
    with (run / "log").open("w") as log_file:
        supervisor = Supervisor(run, running=before.roles, write_log=log_file)
        assert await supervisor.clear_strays() == 0, "it is no stray before it was taken over, either"
        child = supervisor.start(role)
        await child.ready.wait()
        print(child.pid, flush=True)
        (run / "speak").touch()
        while f"heard {child.pid}" not in (run / "log").read_text():
            await asyncio.sleep(0.05)
        first = child.pid
        supervisor.start_anew("host", role)
        while child.pid in (None, first) or not child.ready.is_set():
            await asyncio.sleep(0.05)
        assert await supervisor.stop(["host"], 60) == []
    print(await supervisor.clear_strays(), child.restarts)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    first, second, end = done.stdout.splitlines()
    assert first == second
    assert end == "0 1"


def test_a_program_that_cannot_be_replaced_goes_on(tmp_path: Path) -> None:
    done = supervise(
        """
    import os
    from sederunt.cli.self_exec import Inheritance, go_on, inherited
    kept = os.open("/dev/null", os.O_RDONLY)
    sys.executable = "/nowhere/python"
    print(go_on(Inheritance(lock=kept, listener=kept, database=None, replaced=0, roles={})))
    print(inherited(), os.get_inheritable(kept))
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["`serve` itself goes on as it was: No such file or directory.", "None False"]


def test_a_role_rests_until_it_is_woken_whatever_else_happens_to_it(tmp_path: Path) -> None:
    """It is woken once by many at a time, and one that was replaced at rest is up."""
    done = supervise(
        """
    import signal, psutil
    run = Path(sys.argv[1])
    child = supervisor.start(Role(name="worker", command=(sys.executable, "-c", READY)))
    await child.ready.wait()
    await supervisor.rest("worker", 30)
    await child.task
    assert supervisor.pids()["worker"] is None and not (run / "worker.pid").exists()
    assert supervisor.running() == {} and not psutil.Process().children()
    supervisor.kill("worker")
    assert await asyncio.gather(*(supervisor.wake("worker") for _ in range(3))) == [True] * 3
    woken = supervisor.pids()["worker"]
    assert int((run / "worker.pid").read_text()) == woken
    assert [child.pid for child in psutil.Process().children()] == [woken]
    assert await supervisor.wake("worker") and supervisor.pids()["worker"] == woken
    await supervisor.rest("worker", 30)
    replacing = asyncio.create_task(supervisor.replace("worker", by=signal.SIGTERM, within_s=30))
    await asyncio.sleep(0)
    assert await supervisor.wake("worker") and await replacing
    assert len(psutil.Process().children()) == 1
    await supervisor.rest("worker", 30)
    await supervisor.stop(["worker"], 30)
    print(len(psutil.Process().children()))
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


def test_a_role_that_takes_its_time_to_rest_is_woken_beside_itself_and_asked_to_end_once(tmp_path: Path) -> None:
    """What is asked twice ends at once, with its work undone."""
    done = supervise(
        """
    code = '''
import os, signal, sys, time
run = sys.argv[1]
def asked(*_):
    with open(f"{run}/asked-{os.getpid()}", "a") as file:
        file.write("x")
signal.signal(signal.SIGTERM, asked)
print('{"ready": 1}', flush=True)
while not os.path.exists(f"{run}/end"):
    time.sleep(0.02)
'''
    run = Path(sys.argv[1])
    child = supervisor.start(Role(name="worker", command=(sys.executable, "-c", code, str(run))))
    await child.ready.wait()
    first = child.pid
    await supervisor.rest("worker", 60)
    while not (run / f"asked-{first}").exists():
        await asyncio.sleep(0.02)
    assert await supervisor.wake("worker")
    second = supervisor.pids()["worker"]
    assert second not in (None, first) and child.pid == first
    assert int((run / "worker.pid").read_text()) == second
    assert await supervisor.clear_strays() == 0, "it ends by itself"
    await supervisor.rest("worker", 60)
    stopping = asyncio.create_task(supervisor.stop(["worker"], 60))
    while not (run / f"asked-{second}").exists():
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    (run / "end").touch()
    assert await stopping == []
    print([(run / f"asked-{pid}").read_text() for pid in (first, second)])
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['x', 'x']"
