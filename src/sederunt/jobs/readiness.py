"""Whether a process can work, part by part, found out by using each part. Every role tests itself in this way."""

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
LEAST_FREE_BYTES = 100_000_000  # below it a recording of an hour may not be stored any more
LEAST_FREE_FILES = 1_000
ANSWER_S = 5.0  # how long a part may take
STORED_S = 15.0  # how long a trial counts that writes: in a bucket it costs four requests
MOST_SKEW_S = 5.0  # between this machine's clock and the database's

logger = log.get(component="jobs")

PartCheck = Callable[[], str]  # returns "ok", or what is wrong


class Readiness:
    """Looks at the parts of the installation that a process needs.

    Args:
        own: the parts that this role has and others have not, such as a browser; each look must be quick.
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
        # With PostgreSQL and a bucket nothing has to be written here.
        self._data = data if database.is_sqlite or objects.local_path("checks") is not None else None
        self._trials: dict[str, tuple[float, str]] = {}  # until when each counts, and what came of it
        self._running: dict[str, asyncio.Task[str]] = {}

    async def parts(self) -> dict[str, str]:
        """Return the state of each part: "ok", or what is wrong with it."""
        data = await asyncio.to_thread(state_of, self._data) if self._data is not None else OK
        return {
            "database": await self._database_state(),
            "bus": self._bus_state(),
            "data": data,
            # A trial would make a folder anew that somebody took away, and hide that.
            "storage": await self._tried("storage", self._write_object) if data != "missing" else AWAY,
            **{part: look() for part, look in self._own.items()},
        }

    def _bus_state(self) -> str:
        if not self._bus.connected:
            return AWAY
        return OK if self._bus.stores_jobs else STORES_NO_JOBS

    async def _database_state(self) -> str:
        if self._database.is_sqlite and not Path(self._database.url.database or "").exists():
            return AWAY  # a deleted file can still be read by whoever has it open
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._accounts.all()
        except Exception:  # whatever the driver raises: this question is about just that
            return AWAY
        return await self._tried("database", self._write_row)

    async def _write_row(self) -> str:
        at = await self._accounts.prove_writable()
        skew_s = at - SYSTEM_CLOCK.now().timestamp() if at is not None else 0.0
        return OK if abs(skew_s) < MOST_SKEW_S else f"clock differs by {skew_s:.0f} s"

    async def _write_object(self) -> str:
        # A request that hangs may do so for minutes after the bucket is back: the next trial tells that sooner.
        async with asyncio.timeout(ANSWER_S):
            await self._objects.check()
        return OK

    async def _tried(self, part: str, trial: Callable[[], Coroutine[Any, Any, str]]) -> str:
        """Return what came of a trial that writes; it counts for a while."""
        until, word = self._trials.get(part, (float("-inf"), AWAY))
        if self._clock.monotonic() < until:
            return word
        # One that waits for a lock of SQLite is not to be stopped before it is over: it is left to itself meanwhile.
        running = self._running.get(part)
        if running is None or running.done():  # what came of one long ago says nothing of now
            running = self._running[part] = asyncio.create_task(trial(), name=f"trial of {part}")
            running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        if running not in (await asyncio.wait({running}, timeout=ANSWER_S))[0]:
            logger.warning("a part does not answer its trial", action=f"{part}_away", within_s=ANSWER_S)
            return AWAY
        try:
            word = running.result()
        except Exception as error:  # whatever the driver raises: this question is about just that
            logger.warning("a part failed its trial", action=f"{part}_away", error=str(error)[:200])
            word = AWAY
        self._trials[part] = (self._clock.monotonic() + STORED_S, word)
        return word


def state_of(data: Path) -> str:
    """Return "ok", or what is wrong with a data directory: "missing", "not writable" or "full"."""
    if not data.is_dir():
        return "missing"
    try:
        files = os.statvfs(data)
        few_files = files.f_files > 0 and files.f_favail < LEAST_FREE_FILES  # 0: as many as there is room for
        if shutil.disk_usage(data).free < LEAST_FREE_BYTES or few_files:
            return "full"
        with tempfile.TemporaryFile(dir=data) as trial:
            trial.write(b"sederunt")
    except OSError:
        return "not writable"
    return OK
