"""Whether a host takes one more bot: measured CPU and memory, and what the bots just taken have yet to cost."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from sederunt.jobs.cgroup import cores_allowed, memory_left_mb
from sederunt.settings import HostSettings

# A bot costs most while its page loads. Measured: some two CPU-seconds over the first ten.
START_S = 10.0
START_CORES = 0.25
START_MB = 110
# What a bot costs that Whisper transcribes live, once somebody speaks: until then the machine only seems idle.
LIVE_CORES = 0.2
# What a bot costs that sits: a guest's share of a headful browser that several have.
BOT_CORES = 0.06
SAMPLE_S = 1.0  # shortest time over which CPU use is measured


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """The machine at one moment. `busy_s` counts up over all cores; low-priority work (`nice`) is not in it."""

    at: float
    busy_s: float
    cores: float
    available_mb: float


def measure() -> Measure:
    """Measure what bots use. Workers run at low priority and give way, so what they use does not count as taken.

    In a container with limits, what counts are those, and what is used of them.
    """
    available_mb, left_mb = psutil.virtual_memory().available / 1e6, memory_left_mb()
    available_mb = available_mb if left_mb is None else min(available_mb, left_mb)
    cores = psutil.cpu_count() or 1
    if (allowed := cores_allowed()) is not None and allowed.cores < cores:
        return Measure(at=time.monotonic(), busy_s=allowed.busy_s, cores=allowed.cores, available_mb=available_mb)
    times = psutil.cpu_times()
    waiting = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "nice", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted in user and nice already
    return Measure(
        at=time.monotonic(),
        busy_s=sum(times) - waiting - guests,
        cores=cores,
        available_mb=available_mb,
    )


class Capacity:
    """Ask `has_room` before each bot. A host without bots always takes one.

    Args:
        held: how many bots sit here.
        live: how many of them this machine transcribes live.
    """

    def __init__(
        self,
        settings: HostSettings,
        held: Callable[[], int],
        measure: Callable[[], Measure] = measure,
        *,
        live: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._held, self._live = held, live
        self._measure = measure
        self._last = measure()
        self._load = 0.0  # share of all cores
        self._starts: deque[float] = deque()
        self._held_before = 0

    def has_room(self) -> bool:
        now = self._measure()
        self._note_starts(now.at)
        self._sample(now)
        starting = len(self._starts)
        if self._held() == 0:
            return True
        load = max(self._load, self._live() * LIVE_CORES / now.cores) + starting * START_CORES / now.cores
        free_mb = now.available_mb - starting * START_MB
        return load < self._settings.max_load and free_mb > self._settings.min_free_mb

    def free_seats(self) -> int:
        """Return how many bots more this host could seat, one after another, by its measured load and memory."""
        now, held = self._measure(), self._held()
        self._sample(now)
        limits = [self._settings.max_bots - held, (now.available_mb - self._settings.min_free_mb) / START_MB]
        if self._settings.max_load <= 1:
            load = max(self._load * now.cores, self._live() * LIVE_CORES, held * BOT_CORES)
            limits.append((self._settings.max_load * now.cores - load) / BOT_CORES)
        return max(int(min(limits)), 0 if held else 1)

    @property
    def load(self) -> float:
        """Return the share of all cores that was busy when last measured."""
        return self._load

    def _note_starts(self, now: float) -> None:
        held = self._held()
        self._starts.extend([now] * max(held - self._held_before, 0))
        self._held_before = held
        while self._starts and now - self._starts[0] > START_S:
            self._starts.popleft()

    def _sample(self, now: Measure) -> None:
        elapsed = now.at - self._last.at
        if elapsed >= SAMPLE_S:
            self._load = (now.busy_s - self._last.busy_s) / elapsed / now.cores
            self._last = now
