"""Whose window is read next: the cores of a process, lent for a step of a window at a time.

A job is no unit here. A window of sound is encoded in one turn and decoded in another, perhaps with the next one, some
half a second of a core each, and whoever waits is judged anew for each turn: by how urgent its job is, how much its
account has just now, and how little is left of the job. So a recording of ten seconds waits for one turn of a file of
four hours, not for the file.

Light to import: no numpy, no model. What is read, and where it is cut, is the business of whoever takes turns; words
do not depend on the order in which turns are given, nor on how many there are at once.
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

# Every so many-th turn goes to whoever has waited longest: a file is late behind a day of meetings, and gets there.
OLDEST_EVERY = 8
# What an account had counts half after so long: who has the cores day and night stands behind whoever comes with a
# short recording, and nobody pays for yesterday.
RECENT_S = 30.0
TURN_S = 0.5  # what a turn costs that has just begun
# How often somebody who waits looks whether it was told to stop, and whether a core lies idle.
LOOK_S = 0.2
# So long a core is kept for a thread that stores what it read: as long as anybody's turn.
AWAY_S = 0.5
NOBODY = UUID(int=0)
# Threads that jobs may be at in one process; nearly all of them wait, for a turn or for a vendor.
MOST_THREADS = 512

Made = TypeVar("Made")


class Urgency(IntEnum):
    """Who goes before whom; speech that is written down live is read in the host, before all of this."""

    LIVE = 0  # was followed live, and is read again
    BOT = 1
    UPLOAD = 2


class Rank(IntEnum):
    """Which of one job's turns goes first."""

    CHAIN = 0  # of work that cannot be shared: it ends last if it does not begin first
    BEGUN = 1  # of a section that is held in memory
    NEXT = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnClaim:
    """What the choice of the next turn is made by."""

    urgency: Urgency
    running: float  # turns that its account has just now, by the account's weight
    served_s: float  # CPU-seconds that its account had lately while other jobs waited, by its weight
    remaining_s: float  # sound that is left of its job
    rank: Rank
    source_s: float  # sound that is left of its source; the longest goes first, or it would be alone at the end
    number: int  # in the order of asking


def chosen(claims: Sequence[TurnClaim], *, oldest: bool = False) -> int:
    """Return which claim is next; with `oldest`, the one that has waited longest."""

    def key(index: int) -> tuple[float, ...]:
        claim = claims[index]
        if oldest:
            return (claim.number,)
        had_s = claim.served_s + claim.running * TURN_S
        within = (claim.rank is not Rank.CHAIN, -claim.source_s, claim.rank, claim.number)
        return (claim.urgency, had_s, claim.remaining_s, *within)

    return min(range(len(claims)), key=key)


class Workload:
    """One job in the scheduler's eyes. Made by `Scheduler.workload`.

    `sound_s` is all the sound before it; 0 until it is known, and then the job seems short. `cpu_s` is what its turns
    have cost up to the last change.
    """

    def __init__(self, scheduler: Scheduler, account: UUID, urgency: Urgency) -> None:
        self.account, self.urgency = account, urgency
        self.sound_s = self.done_s = self.cpu_s = 0.0
        self.running = self.waiting = 0
        self._scheduler = scheduler

    def cpu_so_far_s(self) -> float:
        """Return what its turns have cost, those that it has just now included."""
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
        """Return what takes turns for one source of the job: see `Lane`."""
        return Lane(self._scheduler, self, sound_s=sound_s, length_s=length_s)

    async def run(self, work: Callable[[], Made]) -> Made:
        """Do what blocks in a thread of its own: whoever waits for a turn must not keep others from theirs."""
        return await asyncio.get_running_loop().run_in_executor(self._scheduler.threads, work)


@dataclass(slots=True, eq=False)
class Asked:
    """A place in the line for a core, and then the core."""

    workload: Workload
    rank: Rank
    source_s: float
    number: int
    until_s: float = math.inf  # it may have a core until then; later, once its thread has come
    given: threading.Event = field(default_factory=threading.Event)


class RecentUse:
    """The CPU-seconds that accounts had lately: they fade, and those of this moment are shared among who is at work.

    What an account had while no other job waited for a core was taken from nobody and does not count: else whoever was
    alone with one short recording after another would stand behind each newcomer until that has had as much. The
    threads of one job wait for each other all the time.

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
        """Let what was had fade, and charge what was spent since the last call to those that ran; one for each turn.

        `waiting` are the jobs that wanted a core meanwhile.
        """
        now_s = self._now()
        left = 0.5 ** ((now_s - self._faded_at_s) / RECENT_S)
        self._faded_at_s = now_s
        self._had_s = {account: had_s * left for account, had_s in self._had_s.items() if had_s * left > TURN_S / 100}
        seen, self._cpu_seen = self._cpu_seen, self._cpu()
        for workload in running:
            share_s = (self._cpu_seen - seen) / len(running)
            workload.cpu_s += share_s
            if any(other is not workload for other in waiting):
                self._had_s[workload.account] = self._had_s.get(workload.account, 0.0) + share_s


class IdleTimer:
    """Calls `on_idle` once, from a thread of its own, after so many seconds in which nobody stopped it."""

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
        cores: turns at once.
        weight_of: how much an account counts for beside others; 1 is usual.
        idle_s: after so long without a job `on_idle` is called, once, from a thread of its own.
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
        self.idle = IdleTimer(idle_s, on_idle)  # runs while there is no job, once there was one
        self._weight_of = weight_of
        self._lock = threading.Lock()
        self._workloads: list[Workload] = []
        self._waiting: list[Asked] = []
        self._running: list[Workload] = []  # once per turn
        self._away: list[Asked] = []  # in line, or given a core, while their threads do something else
        self._recent, self._now = RecentUse(cpu, now), now
        self._number = self._given = 0

    @contextmanager
    def workload(self, account: UUID, urgency: Urgency) -> Iterator[Workload]:
        """Let a job take turns for as long as the block lasts."""
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
        """Ask for a core; `instead` of one that the job has, which somebody else may get in this moment.

        Then the thread may do something else before it waits, and has a core meanwhile for AWAY_S at most: see `come`.
        """
        with self._lock:
            self._charge()
            asked = Asked(workload, rank, source_s, self._number)
            if instead:
                self._running.remove(workload)
                workload.running -= 1
                asked.until_s = self._now() + AWAY_S
                self._away.append(asked)
            self._number += 1
            workload.waiting += 1
            self._waiting.append(asked)
            self._give()
        return asked

    def come(self, asked: Asked) -> None:
        """Tell that the thread waits for the core now."""
        with self._lock:
            self._charge()
            self._here(asked)
            self._give()

    def look(self) -> None:
        """Give cores of those who are away for too long to others."""
        with self._lock:
            if self._late():
                self._charge()
                self._give()

    def withdraw(self, asked: Asked) -> None:
        """Leave the line, or give the core back where it was lent meanwhile."""
        with self._lock:
            self._charge()
            self._here(asked)
            if asked.given.is_set():
                self._running.remove(asked.workload)
                asked.workload.running -= 1
            else:
                self._waiting.remove(asked)
                asked.workload.waiting -= 1
            self._give()

    def _here(self, asked: Asked) -> None:
        if asked in self._away:
            self._away.remove(asked)
            asked.until_s = math.inf

    def _ready(self) -> list[Asked]:
        """Return those who wait and would use a core."""
        now_s = self._now()
        return [asked for asked in self._waiting if now_s < asked.until_s]

    def _late(self) -> list[Asked]:
        """Return those who were given a core and did not come for it in time."""
        now_s = self._now()
        return [asked for asked in self._away if asked.given.is_set() and asked.until_s <= now_s]

    def _charge(self) -> None:
        self._recent.charge(self._running, [asked.workload for asked in self._ready()])

    def _give(self) -> None:
        """Give free cores to whoever is next; what changed was noted before."""
        for asked in self._late():
            asked.given.clear()
            self._running.remove(asked.workload)
            asked.workload.running -= 1
            asked.workload.waiting += 1
            self._waiting.append(asked)
        while len(self._running) < self.cores and (ready := self._ready()):
            self._given += 1
            asked = ready[chosen(self._claims(ready), oldest=self._given % OLDEST_EVERY == 0)]
            self._waiting.remove(asked)
            asked.workload.waiting -= 1
            asked.workload.running += 1
            self._running.append(asked.workload)
            asked.given.set()

    def note(self) -> None:
        """Bring what workloads have spent up to this moment."""
        with self._lock:
            self._charge()

    def _claims(self, ready: Sequence[Asked]) -> list[TurnClaim]:
        turns = Counter(workload.account for workload in self._running)
        weights = {asked.workload.account: self._weight_of(asked.workload.account) for asked in ready}
        return [
            TurnClaim(
                urgency=asked.workload.urgency,
                running=turns[account := asked.workload.account] / weights[account],
                served_s=self._recent.of(account) / weights[account],
                remaining_s=asked.workload.remaining_s,
                rank=asked.rank,
                source_s=asked.source_s,
                number=asked.number,
            )
            for asked in ready
        ]


class Lane:
    """One source of a job: takes its turns, and tells how far it is.

    Args:
        sound_s: sound in the source, pauses left out where that is known.
        length_s: how long the source is; None where nobody knows.
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
        """Return how much sound of the source is left; 0 where nobody knows."""
        return self._sound_s - self._told_s

    @contextmanager
    def turns(self, stopped: Callable[[], bool], rank: Rank = Rank.NEXT) -> Iterator[Turns]:
        """Have a core for as long as the block lasts, to be offered to others between windows.

        Blocks. Raises Cancelled where `stopped` says so before it begins.
        """
        turns = Turns(self._scheduler, self._workload, lambda: self.remaining_s, rank, stopped)
        try:
            turns.wait()
            yield turns
        finally:
            turns.end()

    def reached(self, done_s: float) -> None:
        """Tell how many seconds of the source are done with."""
        if self._length_s:
            done = self._sound_s * min(1.0, done_s / self._length_s)
            self._workload.done_s += done - self._told_s
            self._told_s = done


class Turns:
    """One thread's turns, each for one step: a window is encoded, one or two are decoded, or one is read again.

    Between two of them the core is offered to whoever is next, in one step with the wish for another turn: given back
    before, it would go to a file of four hours while the next window of a short recording is being prepared.
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
        """Give the core back and stand in line again, without waiting: what comes before `wait` needs no core."""
        self._asked = self._scheduler.ask(self._workload, self.rank, self._left_s(), instead=True)

    def wait(self) -> None:
        """Wait for the core. Raises Cancelled where `stopped` says so; `end` is called all the same."""
        self._scheduler.come(self._asked)
        while not self._stopped():
            if self._asked.given.wait(LOOK_S):
                return
            self._scheduler.look()
        raise Cancelled("The transcription was stopped.")

    def pause(self) -> None:
        """Let whoever is more urgent have the core, between two windows."""
        self.offer()
        self.wait()

    def end(self) -> None:
        """Give the core back, unless that was done."""
        if not self._ended:
            self._ended = True
            self._scheduler.withdraw(self._asked)


def lane_alone(cores: int = 1) -> Lane:
    """Return a lane that has so many cores for itself: for whoever transcribes one file here and now."""
    return workload_alone(cores).lane()


def workload_alone(cores: int = 1) -> Workload:
    """Return a job that has so many cores for itself."""
    return Workload(Scheduler(cores), NOBODY, Urgency.BOT)
