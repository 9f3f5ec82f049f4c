"""Keep a set of child processes running: start, restart with growing pauses, drain, and leave nothing behind.

A child is *ready* when it has printed a line {"ready": …} on its standard output, or when its role's own test returns.
A child that ends is started again: at once the first time, then after pauses that double. Children die with this
process even when it is killed (`die_with_parent`). What killed children leave behind (browsers) becomes a child of this
process, their "subreaper", and is killed before the successor starts; ended ones are collected all along.

A temporary lack (of disk space, memory, or a reader of the log) must not cost a role: a failed start counts as a life
that ended, and a line that cannot be written is lost.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn, TextIO

import psutil

from sederunt import die_with_parent, log
from sederunt.cli import service_manager
from sederunt.cli.role_process import Pipe, RoleProcess, RunningRole, Spawned, TakenOver, reader_of
from sederunt.terminal import plain_but_colours

logger = log.get(component="cli")

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 15.0
STARTED_S = 180.0  # for a successor to be ready on a busy machine
MOST_STARTS = 3  # … and one that ended so often at its start will not become ready
WITHDRAWN_S = 10.0  # for a successor that did not get ready to end
COLLECT_EVERY_S = 60.0
HEALTHY_AFTER_S = 30.0  # a child that ran so long is restarted at once when it ends
# Errors of a start on a machine that lacks something; RuntimeError: no thread to wait for the process.
_FAULTS = (OSError, RuntimeError, psutil.Error)
_PR_SET_CHILD_SUBREAPER = 36
_NATS_LINE = re.compile(r"\[\d+\] [\d/]+ [\d:.]+ \[(?P<level>[A-Z]{3})\](?P<text>.*)")
_NATS_LEVELS = {"DBG": "debug", "TRC": "debug", "INF": "info", "WRN": "warning", "ERR": "error", "FTL": "error"}


@dataclass(frozen=True, kw_only=True)
class Role:
    """One child to keep running."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    open_files: Sequence[int] = ()  # inherited file descriptors
    is_ready: Callable[[], Awaitable[None]] | None = None  # returns once it is ready; None: the child prints that


class Supervisor:
    """All children of one `serve`.

    Args:
        running: roles that run already, by name; `start` takes them over.
    """

    def __init__(
        self,
        run: Path,
        *,
        write_log: TextIO | None = None,
        json_lines: bool = False,
        running: Mapping[str, RunningRole] = MappingProxyType({}),
    ) -> None:
        self._run, self._json_lines = run, json_lines
        self._running = dict(running)
        self._log = write_log or log.output()
        self._children: dict[str, Child] = {}  # by role, its current child
        self._beside: set[Child] = set()  # successors that are not ready yet, and predecessors that have not ended
        self._ending: set[asyncio.Task[bool]] = set()  # of roles that were asked to rest
        self._one_at_a_time = asyncio.Lock()  # spawning, and distinguishing strays from children
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # by role, for changes of its child
        run.mkdir(parents=True, exist_ok=True, mode=0o700)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if sys.platform == "linux" and sys.version_info < (3, 12):
            # The default from 3.12 on. A thread per child would receive signals that have to be blocked (`self_exec`).
            watcher = asyncio.PidfdChildWatcher()
            watcher.attach_loop(asyncio.get_running_loop())
            asyncio.set_child_watcher(watcher)

    def start(self, role: Role) -> "Child":
        """Begin to keep a role running; await `ready` of the returned child."""
        child = Child(role, self, self._running.pop(role.name, None))
        self._children[role.name] = child
        child.task = asyncio.create_task(child.keep_running(), name=f"role {role.name}")
        return child

    async def stop(self, names: Sequence[str], within_s: float) -> list[str]:
        """Ask these roles to end; kill them after `within_s`. Return the names of those that had to be killed."""
        children = [child for child in self._everyone() if child.role.name in names]
        killed = await asyncio.gather(*(child.stop(within_s) for child in children))
        return [child.role.name for child, was_killed in zip(children, killed, strict=True) if was_killed]

    async def replace(self, name: str, *, by: signal.Signals, within_s: float) -> bool:
        """Start a successor beside a role's process and, once it is ready, end the old process.

        Args:
            by: the signal that asks it to; it is killed after `within_s`.

            Returns False if no successor became ready: then everything is as before.
        """
        async with self._turns[name]:
            return await self._replace(name, by=by, within_s=within_s)

    async def _replace(self, name: str, *, by: signal.Signals, within_s: float) -> bool:
        predecessor, successor = self._children[name], Child(self._children[name].role, self)
        self._beside.add(successor)
        successor.task = asyncio.create_task(successor.keep_running(), name=f"role {name}")
        if not await successor.is_up():
            await successor.stop(WITHDRAWN_S)
            self._beside.remove(successor)
            return False
        self._beside = self._beside - {successor} | {predecessor}
        self._children[name] = successor
        self.note_pid(successor)
        await predecessor.stop(within_s, by)
        self._beside.remove(predecessor)
        return True

    async def rest(self, name: str, within_s: float) -> None:
        """Ask a role's process to end, and start no successor until `wake`. It is killed after `within_s`; this does
        not wait for that.
        """
        async with self._turns[name]:
            stop_task = asyncio.create_task(self._children[name].stop(within_s), name=f"rest {name}")
            self._ending.add(stop_task)
            stop_task.add_done_callback(self._ending.discard)
            await asyncio.sleep(0)  # so that it is asked before anybody can wake it

    async def wake(self, name: str) -> bool:
        """Start a role that rests, unless it was started already; return whether it is ready. Its old process may still
        end beside it.
        """
        async with self._turns[name]:
            child = self._children[name]
            if child.is_asked_to_end and child.task is not None:
                self._beside.add(child)
                child.task.add_done_callback(lambda _: self._beside.discard(child))
                self.start(child.role)
        return await self._children[name].is_up()

    @asynccontextmanager
    async def undisturbed(self) -> AsyncIterator[None]:
        """Start nothing and kill no strays in the block, while a process that is no role runs here."""
        async with self._one_at_a_time:
            yield

    def _everyone(self) -> list["Child"]:
        return [*self._children.values(), *self._beside]

    def pids(self) -> dict[str, int | None]:
        """Return each role's process id; None if none runs at the moment."""
        return {name: child.pid for name, child in self._children.items()}

    def running(self) -> dict[str, RunningRole]:
        """Return the roles' processes for a program that takes them over, without those that are being replaced."""
        roles = {name: child.as_running() for name, child in self._children.items()}
        return {name: role for name, role in roles.items() if role is not None}

    def kill(self, name: str) -> None:
        """Kill a role's process; it is restarted as after any other end."""
        self._children[name].kill()

    def start_anew(self, name: str, role: Role) -> None:
        """End a role's process; it is restarted with this role."""
        self._children[name].role = role
        self._children[name].ask_to_end()

    def hurry(self) -> None:
        """Kill every process that still drains."""
        for child in self._everyone():
            child.hurry()

    async def spawn(self, role: Role) -> "Spawned":
        """Start a role's process."""
        command = die_with_parent.tied(list(role.command))
        own_environment = {name: value for name, value in os.environ.items() if name not in service_manager.ADDRESSED}
        async with self._one_at_a_time, Pipe() as output, Pipe() as errors:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output.write_end,
                stderr=errors.write_end,
                env={**own_environment, **role.environment},
                pass_fds=tuple(role.open_files),
                # Ctrl-C goes to the foreground group, but this process drains the children in its own order.
                start_new_session=True,
            )
        files = (output.read_end, errors.read_end)
        return Spawned(process=process, output=output.reader, errors=errors.reader, files=files)

    async def clear_strays(self) -> int:
        """Kill what dead children left behind; return how many processes that were."""
        count = 0
        async with self._one_at_a_time:
            while strays := self._strays():  # children of killed strays become ours in turn
                for stray in strays:
                    _kill(stray)
                count += len(strays)
        return count

    async def collect_ended(self) -> int:
        """Collect strays that have ended; return how many.

        This process is their parent in init's place; nobody else collects them, and each occupies a process id.
        """
        async with self._one_at_a_time:
            ended_strays = [stray for stray in self._strays() if _has_ended(stray)]
            for stray in ended_strays:
                _collect(stray)
        return len(ended_strays)

    async def keep_collecting(self) -> NoReturn:
        """Collect at intervals, for ever: each browser leaves three processes that have ended."""
        while True:
            await asyncio.sleep(COLLECT_EVERY_S)
            with contextlib.suppress(*_FAULTS):
                await self.collect_ended()

    def _strays(self) -> list[psutil.Process]:
        ours = {child.pid for child in self._everyone()} | {role.pid for role in self._running.values()}
        return [process for process in psutil.Process().children() if process.pid not in ours]

    def note_pid(self, child: "Child") -> None:
        """Write a role's process id to its pid file, or remove the file if no process runs."""
        if self._children.get(child.role.name) is not child:
            return
        path = self._run / f"{child.role.name}.pid"
        with contextlib.suppress(OSError):  # it runs in any case
            if child.pid is not None:
                path.write_text(str(child.pid))
            else:
                path.unlink(missing_ok=True)

    def write_line(self, name: str, line: str) -> None:
        """Write a child's log line: JSON as it is (it names its role itself), anything else with its name."""
        if not line.startswith("{"):
            if is_drawing(line):
                return
            line = as_json(name, line) if self._json_lines else f"{name:6} | {plain_but_colours(line)}"
        with contextlib.suppress(OSError):  # the reading must go on, or the child blocks on its output
            self._log.write(f"{line}\n")
            self._log.flush()


def is_drawing(line: str) -> bool:
    """Return whether a line has neither letters nor digits: nats-server starts with its name drawn in dashes."""
    match = _NATS_LINE.fullmatch(line)
    return not any(sign.isalnum() for sign in (match["text"] if match else line))


def as_json(name: str, line: str) -> str:
    """Return a plain-text line of a program such as nats-server as a JSON line of our logs."""
    match = _NATS_LINE.fullmatch(line)
    level, text = (_NATS_LEVELS.get(match["level"], "info"), match["text"]) if match else ("info", line)
    fields = {"role": name, "event": log.redact(text.strip()), "level": level, "action": "child_said"}
    return json.dumps({**fields, "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z")})


def next_pause_s(before_s: float, lived_s: float) -> float:
    """Return the pause before an ended child is restarted: short the first time, then twice as long as before.

    Args:
        before_s: the pause before the life that ended, 0 for the first life.
        lived_s: how long that life was; a healthy one resets the pause.
    """
    if before_s == 0 or lived_s > HEALTHY_AFTER_S:
        return FIRST_PAUSE_S
    return min(max(before_s * 2, FIRST_PAUSE_S * 5), LONGEST_PAUSE_S)


class Child:
    """One role, through all its processes.

    Args:
        running: a process of the role that runs already.
    """

    def __init__(self, role: Role, supervisor: Supervisor, running: RunningRole | None = None) -> None:
        self.role = role
        self.ready = asyncio.Event()
        self.restarts = 0
        self.task: asyncio.Task[None] | None = None
        self._supervisor = supervisor
        self._running = running
        self._process: RoleProcess | None = TakenOver(running.pid) if running else None
        self._files: tuple[int, int] | None = None  # descriptors of its output
        self._asked_by: set[signal.Signals] = set()  # signals sent to its process
        self._stopping = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.returncode is None else None

    @property
    def is_asked_to_end(self) -> bool:
        """Return whether the role was asked to end for good."""
        return self._stopping.is_set()

    async def keep_running(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            started_at = time.monotonic()
            facts = await self._end_of_life()
            if self._stopping.is_set():
                return
            pause = next_pause_s(pause, time.monotonic() - started_at)
            with contextlib.suppress(OSError):
                logger.warning(
                    "role ended, starting it again", action="role_ended", role=self.role.name, pause_s=pause, **facts
                )
            self.restarts += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _end_of_life(self) -> dict[str, object]:
        """Run one process and clear its strays; return how it ended. Nobody awaits this task; an error would end it."""
        try:
            return {"code": await self._live_once(), "strays": await self._supervisor.clear_strays()}
        except _FAULTS as error:
            with contextlib.suppress(*_FAULTS):  # a process forked before the failure has no owner
                await self._supervisor.clear_strays()
            return {"error": str(error) or type(error).__name__}

    async def _live_once(self) -> int:
        spawned = await self._taken_over() or await self._supervisor.spawn(self.role)
        process = self._process = spawned.process
        self._files, self._asked_by = spawned.files, set()
        self._supervisor.note_pid(self)
        readers = [
            asyncio.create_task(self._read_lines(spawned.output, self._on_output)),
            asyncio.create_task(self._read_lines(spawned.errors, self._on_log)),
        ]
        if self.role.is_ready is not None:
            readers.append(asyncio.create_task(self._test_readiness(self.role.is_ready)))
        if self._stopping.is_set():
            self._signal(signal.SIGTERM)
        try:
            code = await process.wait()
        finally:
            # Read the last lines; grandchildren may hold the pipes open for as long as they live.
            await asyncio.wait(readers, timeout=0.5)
            for reader in readers:
                reader.cancel()
        self.ready.clear()
        self._supervisor.note_pid(self)
        return code

    async def _taken_over(self) -> Spawned | None:
        """Return the process that ran already, on the first call only."""
        running, self._running = self._running, None
        if running is None or self._process is None:
            return None
        if running.ready:
            self.ready.set()
        output, errors = await reader_of(running.output), await reader_of(running.errors)
        return Spawned(process=self._process, output=output, errors=errors, files=(running.output, running.errors))

    def as_running(self) -> RunningRole | None:
        """Return its process for a program that takes it over; None if none runs."""
        if self.pid is None or self._files is None:
            return None
        output, errors = self._files
        return RunningRole(pid=self.pid, output=output, errors=errors, ready=self.ready.is_set())

    async def _test_readiness(self, is_ready: Callable[[], Awaitable[None]]) -> None:
        await is_ready()
        self.ready.set()

    async def _read_lines(self, stream: asyncio.StreamReader, on_line: Callable[[str], None]) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than the limit: the part read is dropped
                continue
            if not line:
                return
            on_line(line.decode(errors="replace").rstrip())

    def _on_output(self, line: str) -> None:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                if "ready" in json.loads(line):
                    self.ready.set()
                    return
        self._supervisor.write_line(self.role.name, line)

    def _on_log(self, line: str) -> None:
        self._supervisor.write_line(self.role.name, line)

    async def is_up(self) -> bool:
        """Wait until it is ready; return False if it keeps ending at its start, or takes too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STARTED_S):
                while not self.ready.is_set() and self.restarts < MOST_STARTS:  # noqa: ASYNC110  # two events
                    await asyncio.sleep(0.05)
        return self.ready.is_set()

    async def stop(self, within_s: float, by: signal.Signals = signal.SIGTERM) -> bool:
        """End it by this signal, then by SIGKILL after `within_s`; return whether it had to be killed."""
        self._stopping.set()
        if self.task is None:
            return False
        if by not in self._asked_by:  # a second signal would leave a role no time
            self._signal(by)
        done, _ = await asyncio.wait({self.task}, timeout=within_s)
        if done:
            return False
        self.hurry()
        await self.task
        return True

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def ask_to_end(self) -> None:
        """Ask its process to end; a successor is started, since the role itself goes on."""
        self._signal(signal.SIGTERM)

    def hurry(self) -> None:
        self._stopping.set()
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is not None and self._process is not None:
            self._asked_by.add(number)
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)


def _kill(stray: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        stray.kill()
    _collect(stray)


def _collect(stray: psutil.Process) -> None:
    # It is our child now and would stay a zombie.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(stray.pid, 0)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
