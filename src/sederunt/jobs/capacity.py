"""Decides whether a host takes one more bot: from measured CPU and memory, and what recently started bots will cost."""

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
# Cost of a bot that Whisper transcribes live, once somebody speaks; until then the machine only seems idle.
LIVE_CORES = 0.2
# Cost of a sitting bot: a guest's share of a headful browser that several bots share.
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
    """Measure what bots use. Workers run at low priority and yield, so their use does not count as taken.

    In a container with limits, the limits and their use count instead.
    """
    available_mb, left_mb = psutil.virtual_memory().available / 1e6, memory_left_mb()
    available_mb = available_mb if left_mb is None else min(available_mb, left_mb)
    cores = psutil.cpu_count() or 1
    if (allowed_cores := cores_allowed()) is not None and allowed_cores.cores < cores:
        return Measure(
            at=time.monotonic(), busy_s=allowed_cores.busy_s, cores=allowed_cores.cores, available_mb=available_mb
        )
    times = psutil.cpu_times()
    idle_s = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "nice", 0.0)
    guest_s = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # user and nice include these
    return Measure(
        at=time.monotonic(),
        busy_s=sum(times) - idle_s - guest_s,
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
        sample = self._measure()
        self._note_starts(sample.at)
        self._sample(sample)
        start_count = len(self._starts)
        if self._held() == 0:
            return True
        load = max(self._load, self._live() * LIVE_CORES / sample.cores) + start_count * START_CORES / sample.cores
        free_mb = sample.available_mb - start_count * START_MB
        return load < self._settings.max_load and free_mb > self._settings.min_free_mb

    def free_seats(self) -> int:
        """Return how many more bots this host could seat, one after another, by its measured load and memory."""
        sample, bot_count = self._measure(), self._held()
        self._sample(sample)
        limits = [self._settings.max_bots - bot_count, (sample.available_mb - self._settings.min_free_mb) / START_MB]
        if self._settings.max_load <= 1:
            load = max(self._load * sample.cores, self._live() * LIVE_CORES, bot_count * BOT_CORES)
            limits.append((self._settings.max_load * sample.cores - load) / BOT_CORES)
        return max(int(min(limits)), 0 if bot_count else 1)

    @property
    def load(self) -> float:
        """Return the share of all cores that was busy at the last measurement."""
        return self._load

    def _note_starts(self, now: float) -> None:
        bot_count = self._held()
        self._starts.extend([now] * max(bot_count - self._held_before, 0))
        self._held_before = bot_count
        while self._starts and now - self._starts[0] > START_S:
            self._starts.popleft()

    def _sample(self, sample: Measure) -> None:
        elapsed_s = sample.at - self._last.at
        if elapsed_s >= SAMPLE_S:
            self._load = (sample.busy_s - self._last.busy_s) / elapsed_s / sample.cores
            self._last = sample
