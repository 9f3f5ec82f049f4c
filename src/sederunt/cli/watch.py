"""End frozen roles: they hold their sockets, answer no request, and would never end by themselves.

A role that froze in the middle of a transaction on SQLite keeps all others from writing. It is ended before a writer
gives up waiting, so that callers see a slow answer and no refusal. A role that the kernel calls stopped is ended as
soon, if its successor has nothing to catch up on: however busy the machine, somebody stopped that process. A host gets
more time: its browsers go on, and it finds their sound when it goes on too. But its bots must be back within half a
minute.

A role's heartbeat comes from its own event loop. `serve` hears everybody's heartbeats and its own: if it does not hear
its own, it is the message server that hangs.

A message server that answers but stores no job any more counts as frozen, since only a restart mends it. It is left
alone while the disk is full, because it would not start then.

A process that gets no core is not frozen: ending it would lose its work, and its successor would get no core either.
Nor is one that waits for a hanging disk: the kernel would not end it before the disk answers, and what it knows and
cannot write yet, such as a receiver's answer, would be lost.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn, Protocol

from sederunt import log
from sederunt.browser.stopped_processes import LOOKS_IN_A_ROW, ProcessState, StoppedProcesses, stat_fields, state_of
from sederunt.bus.connection import STORES_NO_JOBS, Bus
from sederunt.bus.heartbeat import SILENT_S, Heartbeat, Heartbeats, beating, hearing
from sederunt.database import locks
from sederunt.settings import BusSettings

logger = log.get(component="cli")

LOOK_EVERY_S = 2.0
CONNECTED_WITHIN_S = 60.0
AGAIN_S = 10.0  # pause after a watch that failed
FROZEN_S = 30.0  # longer than a process with a core ever blocks its event loop
STARVED_S = 600.0  # the same for a process with a thread that waited for a core lately
WAITED_SHARE = 0.5  # of the time between two looks
BLOCKING_LOOKS = 2  # looks at which a silent role kept the database locked; our transactions take milliseconds
OWN_ROLE, BUS_ROLE = "serve", "nats"
# Looks in a row at which the kernel called a role stopped before it is ended.
REPLACED_WHEN_STOPPED = {"api": LOOKS_IN_A_ROW, "worker": LOOKS_IN_A_ROW, BUS_ROLE: LOOKS_IN_A_ROW, "host": 10}


class FrozenRoles:
    """Decides which roles are frozen. Pure except for the memory of its last look.

    Args:
        heartbeats: of all processes, including our own.
    """

    def __init__(self, heartbeats: Heartbeats, now: Callable[[], float] = time.monotonic) -> None:
        self._heartbeats, self._now = heartbeats, now
        self._looked_at = self._awake_since = now()
        self._last: dict[str, Heartbeat] = {}  # by role, the last heartbeat of our process
        self._blocking: Counter[int] = Counter()  # process → looks in a row at which it kept the database locked
        self._starved: dict[int, float] = {}  # process → when it last waited for a core

    def found(
        self,
        pids: Mapping[str, int | None],
        blocking: frozenset[int] = frozenset(),
        starved: frozenset[int] = frozenset(),
    ) -> list[str]:
        """Return the roles whose processes are frozen.

        Args:
            pids: each role's process; None if none runs.
            blocking: processes that keep others from writing to the database at this moment.
            starved: processes that mostly waited for a core since the last look.
        """
        self._blocking = Counter({pid: self._blocking[pid] + 1 for pid in blocking})
        now = self._now()
        if now - self._looked_at > 3 * LOOK_EVERY_S:  # this process slept or could not run, and so could no other
            self._awake_since = now
        self._looked_at = now
        self._starved |= dict.fromkeys(starved, now)
        for heartbeat in self._heartbeats.living():
            if heartbeat.pid == pids.get(heartbeat.role) or heartbeat.role == OWN_ROLE:
                self._last[heartbeat.role] = heartbeat
        awake_s = now - self._awake_since
        silent_roles = [
            role
            for role, heartbeat in self._last.items()
            if min(awake_s, self._heartbeats.age_s(heartbeat)) >= self._patience_s(heartbeat)
        ]
        if OWN_ROLE in silent_roles or (awake_s >= FROZEN_S and self._stores_no_jobs()):
            return [BUS_ROLE] if pids.get(BUS_ROLE) is not None else []
        return [role for role in silent_roles if pids.get(role) == self._last[role].pid]

    def _stores_no_jobs(self) -> bool:
        reported_parts = [heartbeat.facts.get("parts", {}) for heartbeat in self._heartbeats.living()]
        return any(parts.get("bus") == STORES_NO_JOBS and parts.get("data") == "ok" for parts in reported_parts)

    def _patience_s(self, heartbeat: Heartbeat) -> float:
        if self._blocking[heartbeat.pid] >= BLOCKING_LOOKS:
            return SILENT_S
        starved_s = self._looked_at - self._starved.get(heartbeat.pid, float("-inf"))
        return STARVED_S if starved_s < FROZEN_S else FROZEN_S

    def forget(self, role: str) -> None:
        """Forget a role's last heartbeat, so that its successor gets time to start and to be heard."""
        self._last.pop(role, None)
        if role == BUS_ROLE:
            self._last, self._awake_since = {}, self._now()


class CoreWaits:
    """How long the threads of processes wait for a core, by the kernel's count. Without that count nobody waits."""

    def __init__(self, now: Callable[[], float] = time.monotonic, proc: Path = Path("/proc")) -> None:
        self._now, self._proc = now, proc
        self._looked_at = now()
        self._waited_s: dict[Path, float] = {}  # by thread, until the last look

    def starved(self, pids: Iterable[int]) -> frozenset[int]:
        """Return the processes with a thread that has waited for `WAITED_SHARE` of the time since the last look."""
        now, last_waited_s, self._waited_s = self._now(), self._waited_s, {}
        enough_s, self._looked_at = WAITED_SHARE * (now - self._looked_at), now
        starved_pids = set()
        for pid in pids:
            for thread in self._proc.glob(f"{pid}/task/*"):
                with contextlib.suppress(OSError, ValueError, IndexError):  # one that ends just now
                    waited_s = self._waited_s[thread] = int((thread / "schedstat").read_text().split()[1]) / 1e9
                    if waited_s - last_waited_s.get(thread, waited_s) >= enough_s > 0:
                        starved_pids.add(pid)
        return frozenset(starved_pids)


def waiting_for_a_disk(pids: Iterable[int], proc: Path = Path("/proc")) -> frozenset[int]:
    """Return the processes with a thread in the kernel's uninterruptible sleep at this moment."""
    return frozenset(
        pid for pid in pids if any(stat_fields(str(stat))[:1] == [b"D"] for stat in proc.glob(f"{pid}/task/*/stat"))
    )


class StoppedRoles:
    """Counts at how many looks in a row the kernel called each role stopped.

    Args:
        read: returns the state of a process.
    """

    def __init__(self, read: Callable[[int], ProcessState | None] = state_of) -> None:
        self._read = read
        self._watches = {role: StoppedProcesses(looks) for role, looks in REPLACED_WHEN_STOPPED.items()}

    def look(self, pids: Mapping[str, int | None]) -> list[str]:
        """Take one look at the roles' processes; return those that have been stopped for too long."""
        return [role for role, watch in self._watches.items() if watch.look(self._states(pids.get(role)))]

    def _states(self, pid: int | None) -> list[ProcessState]:
        state = self._read(pid) if pid is not None else None
        return [] if state is None else [state]


class Supervised(Protocol):
    """The watched roles, which restart when they end: `Supervisor`."""

    def pids(self) -> Mapping[str, int | None]:
        """Return each role's process; None while it has none."""

    def kill(self, name: str) -> None:
        """Kill a role's process."""


async def end_frozen(supervisor: Supervised, bus_settings: BusSettings, database: Path | None) -> NoReturn:
    """Watch for ever, and end frozen roles; the supervisor restarts them.

    A watch that fails, as while the message server is away, starts again; failures in a row are logged once.

    Args:
        database: the file of SQLite; None for a database that ends the transactions of a silent client by itself.
    """
    is_logged = False
    while True:
        try:
            async with _hearing(bus_settings) as heartbeats:
                roles, stopped_roles, core_waits = FrozenRoles(heartbeats), StoppedRoles(), CoreWaits()
                while True:
                    await asyncio.sleep(LOOK_EVERY_S)
                    _end_frozen(supervisor, database, roles, stopped_roles, core_waits)
                    is_logged = False
        except Exception:
            if not is_logged:
                logger.exception("nobody watches for frozen roles; it is tried again", action="watch_failed")
            is_logged = True
        await asyncio.sleep(AGAIN_S)


@contextlib.asynccontextmanager
async def _hearing(bus_settings: BusSettings) -> AsyncIterator[Heartbeats]:
    """Hear everybody's heartbeats and our own while the block runs. Raises BusAway."""
    bus = await Bus.connect(bus_settings, name="serve", within_s=CONNECTED_WITHIN_S)
    try:
        async with hearing(bus) as heartbeats, beating(bus, OWN_ROLE, "serve", _nothing_more):
            yield heartbeats
    finally:
        await bus.close()


def _end_frozen(
    supervisor: Supervised,
    database: Path | None,
    roles: FrozenRoles,
    stopped_roles: StoppedRoles,
    core_waits: CoreWaits,
) -> None:
    pids = supervisor.pids()
    running_pids = [pid for pid in pids.values() if pid is not None]
    hung_pids = waiting_for_a_disk(running_pids)
    blocking = (locks.holders(database) if database is not None else frozenset()) - hung_pids
    starved = core_waits.starved(running_pids) | hung_pids
    for role in {*roles.found(pids, blocking, starved), *stopped_roles.look(pids)}:
        fields = {"frozen": role, "database_locked": pids[role] in blocking}
        logger.error("role is frozen, it is ended and started anew", action="role_frozen", **fields)
        roles.forget(role)
        supervisor.kill(role)


async def _nothing_more() -> Mapping[str, object]:
    return {}
