"""Lend the cores of a process, for one step of a window of sound at a time.

The unit is not a job but a turn. A window of sound is encoded in one turn and decoded in another, perhaps together
with the next window; each takes about half a second of a core. The next turn is chosen anew each time: by the urgency
of the job, by how much its account has at the moment, and by how little is left of the job. So a recording of ten
seconds waits for one turn of a file of four hours, not for the file.

Light to import: no numpy, no model. Callers decide what is read, and where it is cut; the resulting words do not
depend on the order of turns, nor on how many there are at once.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar
from uuid import UUID

from sederunt.errors import Cancelled

# One turn in so many goes to the oldest claim: so even behind a day of meetings, a file is finished in the end.
OLDEST_EVERY = 8
# Half-life of an account's use: an account that uses the cores day and night comes after one with a short recording,
# and yesterday's use does not count.
RECENT_S = 30.0
TURN_S = 0.5  # the assumed cost of a turn that has just begun
# How often a waiting thread checks whether it has to stop, and whether a core is idle.
LOOK_S = 0.2
# How long a core is kept for a thread that stores its result: as long as a turn.
AWAY_S = 0.5
NOBODY = UUID(int=0)
# Threads for the jobs of one process; nearly all of them wait, for a turn or for a vendor.
MOST_THREADS = 512

Made = TypeVar("Made")


class Urgency(IntEnum):
    """The priority of a job. Live transcription runs in the host, before all of these."""

    LIVE = 0  # was transcribed live, and is read again
    BOT = 1
    UPLOAD = 2


class Rank(IntEnum):
    """The order of one job's turns."""

    CHAIN = 0  # for work that cannot be shared: it would end last if it did not begin first
    BEGUN = 1  # for a section that is in memory
    NEXT = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnClaim:
    """The criteria by which the next turn is chosen."""

    urgency: Urgency
    running: float  # turns that its account has at the moment, divided by the account's weight
    served_s: float  # CPU-seconds that its account had lately while other jobs waited, divided by its weight
    remaining_s: float  # sound that is left of its job
    rank: Rank
    source_s: float  # sound that is left of its source; the longest goes first, so as not to be alone at the end
    number: int  # in the order of requests


def chosen(claims: Sequence[TurnClaim], *, oldest: bool = False) -> int:
    """Return the index of the next claim; with `oldest`, of the one that has waited longest."""

    def key(index: int) -> tuple[float, ...]:
        claim = claims[index]
        if oldest:
            return (claim.number,)
        use_s = claim.served_s + claim.running * TURN_S
        tie_breakers = (claim.rank is not Rank.CHAIN, -claim.source_s, claim.rank, claim.number)
        return (claim.urgency, use_s, claim.remaining_s, *tie_breakers)

    return min(range(len(claims)), key=key)


class Workload:
    """One job of the scheduler. Made by `Scheduler.workload`.

    `sound_s` is all the sound of the job; until it is known it is 0, and the job seems short. `cpu_s` is the cost of
    its turns up to the last change.
    """

    def __init__(self, scheduler: Scheduler, account: UUID, urgency: Urgency) -> None:
        self.account, self.urgency = account, urgency
        self.sound_s = self.done_s = self.cpu_s = 0.0
        self.running = self.waiting = 0
        self._scheduler = scheduler

    def cpu_so_far_s(self) -> float:
        """Return the cost of its turns so far, including those under way."""
        self._scheduler.note()
        return self.cpu_s

    @property
    def remaining_s(self) -> float:
        return self.sound_s - self.done_s

    @property
    def cores(self) -> int:
        """Return how many turns it may have at once, if nobody else wants any."""
        return self._scheduler.cores

    def lane(self, *, sound_s: float = 0.0, length_s: float | None = None) -> Lane:
        """Return a lane, which takes turns for one source of the job."""
        return Lane(self._scheduler, self, sound_s=sound_s, length_s=length_s)

    async def run(self, work: Callable[[], Made]) -> Made:
        """Run blocking work in a thread of its own, so that a thread that waits for a turn does not block others."""
        return await asyncio.get_running_loop().run_in_executor(self._scheduler.threads, work)


@dataclass(slots=True, eq=False)
class Asked:
    """A place in the queue for a core, and then the core."""

    workload: Workload
    rank: Rank
    source_s: float
    number: int
    until_s: float = math.inf  # it may have a core until then; after that only once its thread has come
    given: threading.Event = field(default_factory=threading.Event)


class RecentUse:
    """The CPU-seconds that accounts had lately: they fade, and current ones are shared among the running jobs.

    Use while no other job waited for a core was taken from nobody and does not count: otherwise an account that was
    alone with one short recording after another would come after each newcomer, until that has had as much. Threads of
    the same job do not count as waiting, since they always wait for each other.

    Args:
        cpu: CPU-seconds of this process.
        now: monotonic seconds.
    """

    def __init__(self, cpu: Callable[[], float], now: Callable[[], float]) -> None:
        self._cpu, self._now = cpu, now
        self._had_s: dict[UUID, float] = {}
        self._cpu_seen, self._faded_at_s = cpu(), now()

    def of(self, account: UUID) -> float:
        return self._had_s.get(account, 0.0)

    def charge(self, running: Sequence[Workload], waiting: Sequence[Workload]) -> None:
        """Let earlier use fade, and charge the time since the last call to `running`, which has a job once per turn.

        `waiting` are the jobs that waited for a core meanwhile.
        """
        now_s = self._now()
        fade = 0.5 ** ((now_s - self._faded_at_s) / RECENT_S)
        self._faded_at_s = now_s
        self._had_s = {account: use_s * fade for account, use_s in self._had_s.items() if use_s * fade > TURN_S / 100}
        earlier_cpu_s, self._cpu_seen = self._cpu_seen, self._cpu()
        for workload in running:
            share_s = (self._cpu_seen - earlier_cpu_s) / len(running)
            workload.cpu_s += share_s
            if any(other is not workload for other in waiting):
                self._had_s[workload.account] = self._had_s.get(workload.account, 0.0) + share_s


class IdleTimer:
    """Calls `on_idle` once, from a thread of its own, after `idle_s` unless it is stopped."""

    def __init__(self, idle_s: float, on_idle: Callable[[], None] | None) -> None:
        self._idle_s, self._on_idle = idle_s, on_idle
        self._timer: threading.Timer | None = None

    @property
    def is_running(self) -> bool:
        return self._timer is not None

    def start(self) -> None:
        if self._on_idle is not None:
            self._timer = threading.Timer(self._idle_s, self._on_idle)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Scheduler:
    """Lends the cores of one process. Every method may be called from any thread.

    Args:
        cores: the number of simultaneous turns.
        weight_of: an account's share relative to others; usually 1.
        idle_s: after so long without a job, `on_idle` is called once, from a thread of its own.
        cpu: CPU-seconds of this process.
        now: monotonic seconds.
    """

    def __init__(
        self,
        cores: int = 1,
        *,
        weight_of: Callable[[UUID], float] = lambda _account: 1.0,
        idle_s: float = 600.0,
        on_idle: Callable[[], None] | None = None,
        cpu: Callable[[], float] = time.process_time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cores = cores
        self.threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="transcription")
        self.idle = IdleTimer(idle_s, on_idle)  # runs while there is no job, after the first one
        self._weight_of = weight_of
        self._lock = threading.Lock()
        self._workloads: list[Workload] = []
        self._waiting: list[Asked] = []
        self._running: list[Workload] = []  # once per turn
        self._away: list[Asked] = []  # waiting, or given a core, while their threads do something else
        self._recent, self._now = RecentUse(cpu, now), now
        self._number = self._given = 0

    @contextmanager
    def workload(self, account: UUID, urgency: Urgency) -> Iterator[Workload]:
        """Let a job take turns within the block."""
        workload = Workload(self, account, urgency)
        with self._lock:
            self._workloads.append(workload)
            self.idle.stop()
        try:
            yield workload
        finally:
            with self._lock:
                self._workloads.remove(workload)
                if not self._workloads:
                    self.idle.start()

    def ask(self, workload: Workload, rank: Rank, source_s: float = 0.0, *, instead: bool = False) -> Asked:
        """Ask for a core; with `instead`, in exchange for one that the job has, which another job may get at once.

        In that case the thread may do something else before it waits, during which it keeps a new core for at most
        AWAY_S: see `come`.
        """
        with self._lock:
            self._charge()
            place = Asked(workload, rank, source_s, self._number)
            if instead:
                self._running.remove(workload)
                workload.running -= 1
                place.until_s = self._now() + AWAY_S
                self._away.append(place)
            self._number += 1
            workload.waiting += 1
            self._waiting.append(place)
            self._give()
        return place

    def come(self, place: Asked) -> None:
        """Note that the thread waits for the core now."""
        with self._lock:
            self._charge()
            self._here(place)
            self._give()

    def look(self) -> None:
        """Give others the cores of threads that are away for too long."""
        with self._lock:
            if self._late():
                self._charge()
                self._give()

    def withdraw(self, place: Asked) -> None:
        """Leave the queue, or give the core back if it was lent meanwhile."""
        with self._lock:
            self._charge()
            self._here(place)
            if place.given.is_set():
                self._running.remove(place.workload)
                place.workload.running -= 1
            else:
                self._waiting.remove(place)
                place.workload.waiting -= 1
            self._give()

    def _here(self, place: Asked) -> None:
        if place in self._away:
            self._away.remove(place)
            place.until_s = math.inf

    def _ready(self) -> list[Asked]:
        """Return the places that wait and would use a core."""
        now_s = self._now()
        return [place for place in self._waiting if now_s < place.until_s]

    def _late(self) -> list[Asked]:
        """Return the places that were given a core and whose threads did not come in time."""
        now_s = self._now()
        return [place for place in self._away if place.given.is_set() and place.until_s <= now_s]

    def _charge(self) -> None:
        self._recent.charge(self._running, [place.workload for place in self._ready()])

    def _give(self) -> None:
        """Give free cores to the next places; use has to be charged before."""
        for place in self._late():
            place.given.clear()
            self._running.remove(place.workload)
            place.workload.running -= 1
            place.workload.waiting += 1
            self._waiting.append(place)
        while len(self._running) < self.cores and (ready := self._ready()):
            self._given += 1
            place = ready[chosen(self._claims(ready), oldest=self._given % OLDEST_EVERY == 0)]
            self._waiting.remove(place)
            place.workload.waiting -= 1
            place.workload.running += 1
            self._running.append(place.workload)
            place.given.set()

    def note(self) -> None:
        """Charge workloads up to this moment."""
        with self._lock:
            self._charge()

    def _claims(self, ready: Sequence[Asked]) -> list[TurnClaim]:
        turns = Counter(workload.account for workload in self._running)
        weights = {place.workload.account: self._weight_of(place.workload.account) for place in ready}
        return [
            TurnClaim(
                urgency=place.workload.urgency,
                running=turns[account := place.workload.account] / weights[account],
                served_s=self._recent.of(account) / weights[account],
                remaining_s=place.workload.remaining_s,
                rank=place.rank,
                source_s=place.source_s,
                number=place.number,
            )
            for place in ready
        ]


class Lane:
    """One source of a job: takes its turns, and notes its progress.

    Args:
        sound_s: sound in the source, without pauses if they are known.
        length_s: the length of the source; None if unknown.
    """

    def __init__(
        self, scheduler: Scheduler, workload: Workload, *, sound_s: float = 0.0, length_s: float | None = None
    ) -> None:
        self._scheduler, self._workload = scheduler, workload
        self._sound_s, self._length_s = sound_s, length_s
        self._told_s = 0.0

    @property
    def cores(self) -> int:
        """Return how many turns it may have at once, if nobody else wants any."""
        return self._workload.cores

    @property
    def remaining_s(self) -> float:
        """Return how much sound of the source is left; 0 if unknown."""
        return self._sound_s - self._told_s

    @contextmanager
    def turns(self, stopped: Callable[[], bool], rank: Rank = Rank.NEXT) -> Iterator[Turns]:
        """Have a core within the block, to be offered to others between windows.

        Blocks. Raises Cancelled if `stopped` is true before it begins.
        """
        turns = Turns(self._scheduler, self._workload, lambda: self.remaining_s, rank, stopped)
        try:
            turns.wait()
            yield turns
        finally:
            turns.end()

    def reached(self, done_s: float) -> None:
        """Note how many seconds of the source are done."""
        if self._length_s:
            done_sound_s = self._sound_s * min(1.0, done_s / self._length_s)
            self._workload.done_s += done_sound_s - self._told_s
            self._told_s = done_sound_s


class Turns:
    """One thread's turns, each for one step: a window is encoded, one or two are decoded, or one is read again.

    Between two turns the core is offered to others in the same step as the request for another turn. If it were given
    back earlier, a file of four hours would get it while the next window of a short recording is being prepared.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        workload: Workload,
        left_s: Callable[[], float],
        rank: Rank,
        stopped: Callable[[], bool],
    ) -> None:
        self._scheduler, self._workload, self._left_s, self.rank = scheduler, workload, left_s, rank
        self._stopped = stopped
        self._asked = scheduler.ask(workload, rank, left_s())
        self._ended = False

    def offer(self) -> None:
        """Give the core back and queue again, without waiting: work before `wait` needs no core."""
        self._asked = self._scheduler.ask(self._workload, self.rank, self._left_s(), instead=True)

    def wait(self) -> None:
        """Wait for the core. Raises Cancelled if `stopped` is true; `end` has to be called all the same."""
        self._scheduler.come(self._asked)
        while not self._stopped():
            if self._asked.given.wait(LOOK_S):
                return
            self._scheduler.look()
        raise Cancelled("The transcription was stopped.")

    def pause(self) -> None:
        """Let a more urgent job have the core, between two windows."""
        self.offer()
        self.wait()

    def end(self) -> None:
        """Give the core back, unless that was done already."""
        if not self._ended:
            self._ended = True
            self._scheduler.withdraw(self._asked)


def lane_alone(cores: int = 1) -> Lane:
    """Return a lane with so many cores for itself, to transcribe one file here and now."""
    return workload_alone(cores).lane()


def workload_alone(cores: int = 1) -> Workload:
    """Return a job with so many cores for itself."""
    return Workload(Scheduler(cores), NOBODY, Urgency.BOT)
