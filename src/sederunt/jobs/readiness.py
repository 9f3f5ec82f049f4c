"""Tests whether a process can work, part by part, by using each part. Every role tests itself this way."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sederunt import log
from sederunt.bus.connection import STORES_NO_JOBS, Bus
from sederunt.bus.heartbeat import OK
from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database
from sederunt.storage.objects import Objects

AWAY = "away"
LEAST_FREE_BYTES = 100_000_000  # with less, a recording of an hour may not fit
LEAST_FREE_FILES = 1_000
ANSWER_S = 5.0  # how long a part may take
STORED_S = 15.0  # how long the result of a writing trial counts: in a bucket a trial costs four requests
MOST_SKEW_S = 5.0  # between this machine's clock and the database's

logger = log.get(component="jobs")

PartCheck = Callable[[], str]  # returns "ok", or the fault


class Readiness:
    """Tests the parts of the installation that a process needs.

    Args:
        own: the parts that only this role has, such as a browser; each check must be quick.
    """

    def __init__(
        self,
        database: Database,
        bus: Bus,
        objects: Objects,
        data: Path,
        clock: Clock,
        own: Mapping[str, PartCheck] = MappingProxyType({}),
    ) -> None:
        self._accounts = Accounts(database)
        self._own = own
        self._database, self._bus, self._objects, self._clock = database, bus, objects, clock
        # With PostgreSQL and a bucket, the data directory need not be writable.
        self._data = data if database.is_sqlite or objects.local_path("checks") is not None else None
        self._trials: dict[str, tuple[float, str]] = {}  # (until when it counts, result) of each
        self._running: dict[str, asyncio.Task[str]] = {}

    async def parts(self) -> dict[str, str]:
        """Return the state of each part: "ok", or what is wrong with it."""
        data_state = await asyncio.to_thread(state_of, self._data) if self._data is not None else OK
        return {
            "database": await self._database_state(),
            "bus": self._bus_state(),
            "data": data_state,
            # A trial would recreate a missing folder, and hide the fault.
            "storage": await self._tried("storage", self._write_object) if data_state != "missing" else AWAY,
            **{part: look() for part, look in self._own.items()},
        }

    def _bus_state(self) -> str:
        if not self._bus.connected:
            return AWAY
        return OK if self._bus.stores_jobs else STORES_NO_JOBS

    async def _database_state(self) -> str:
        if self._database.is_sqlite and not Path(self._database.url.database or "").exists():
            return AWAY  # a process that has a deleted file open can still read it
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._accounts.all()
        except Exception:  # whatever the driver raises: this question is about just that
            return AWAY
        return await self._tried("database", self._write_row)

    async def _write_row(self) -> str:
        database_time_s = await self._accounts.prove_writable()
        skew_s = database_time_s - SYSTEM_CLOCK.now().timestamp() if database_time_s is not None else 0.0
        return OK if abs(skew_s) < MOST_SKEW_S else f"clock differs by {skew_s:.0f} s"

    async def _write_object(self) -> str:
        # A request may hang for minutes after the bucket is back; the next trial notices sooner.
        async with asyncio.timeout(ANSWER_S):
            await self._objects.check()
        return OK

    async def _tried(self, part: str, trial: Callable[[], Coroutine[Any, Any, str]]) -> str:
        """Return the result of a trial that writes; a result counts for a while."""
        valid_until, state = self._trials.get(part, (float("-inf"), AWAY))
        if self._clock.monotonic() < valid_until:
            return state
        # A trial that waits for a lock of SQLite cannot be stopped, so it keeps running in the background.
        trial_task = self._running.get(part)
        if trial_task is None or trial_task.done():  # an old result says nothing about now
            trial_task = self._running[part] = asyncio.create_task(trial(), name=f"trial of {part}")
            trial_task.add_done_callback(lambda task: task.cancelled() or task.exception())
        if trial_task not in (await asyncio.wait({trial_task}, timeout=ANSWER_S))[0]:
            logger.warning("a part does not answer its trial", action=f"{part}_away", within_s=ANSWER_S)
            return AWAY
        try:
            state = trial_task.result()
        except Exception as error:  # whatever the driver raises: this question is about just that
            logger.warning("a part failed its trial", action=f"{part}_away", error=str(error)[:200])
            state = AWAY
        self._trials[part] = (self._clock.monotonic() + STORED_S, state)
        return state


def state_of(data: Path) -> str:
    """Return "ok", or what is wrong with a data directory: "missing", "not writable" or "full"."""
    if not data.is_dir():
        return "missing"
    try:
        stats = os.statvfs(data)
        has_few_files = stats.f_files > 0 and stats.f_favail < LEAST_FREE_FILES  # 0: no fixed number
        if shutil.disk_usage(data).free < LEAST_FREE_BYTES or has_few_files:
            return "full"
        with tempfile.TemporaryFile(dir=data) as trial:
            trial.write(b"sederunt")
    except OSError:
        return "not writable"
    return OK
