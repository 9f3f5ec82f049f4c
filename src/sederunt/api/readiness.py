"""Whether this process can work, part by part, found out by using each part."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from sederunt import log
from sederunt.bus.connection import Bus
from sederunt.clock import Clock
from sederunt.database.accounts import Accounts
from sederunt.database.engine import Database
from sederunt.errors import SetupError
from sederunt.storage.objects import Objects

OK, AWAY = "ok", "away"
LEAST_FREE_BYTES = 100_000_000  # below it a recording of an hour may not be stored any more
LEAST_FREE_FILES = 1_000
ANSWER_S = 5.0  # how long a part may take
STORED_S = 15.0  # how long a trial of the storage counts: in a bucket it costs three requests

logger = log.get(component="api")


class Readiness:
    """Looks at the parts of the installation that a request may need."""

    def __init__(self, database: Database, bus: Bus, objects: Objects, data: Path, clock: Clock) -> None:
        self._accounts = Accounts(database)
        self._database, self._bus, self._objects, self._clock = database, bus, objects, clock
        # With PostgreSQL and a bucket nothing has to be written here.
        self._data = data if database.is_sqlite or objects.local_path("checks") is not None else None
        self._stored = AWAY
        self._stored_until = float("-inf")

    async def parts(self) -> dict[str, str]:
        """Return a word for each part: "ok", or what is wrong with it."""
        data = await asyncio.to_thread(state_of, self._data) if self._data is not None else OK
        return {
            "database": await self._database_state(),
            "bus": OK if self._bus.connected else AWAY,
            "data": data,
            # A trial would make a folder anew that somebody took away, and hide that.
            "storage": await self._storage_state() if data != "missing" else AWAY,
        }

    async def _database_state(self) -> str:
        if self._database.is_sqlite and not Path(self._database.url.database or "").exists():
            return AWAY  # a deleted file can still be read by whoever has it open
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._accounts.all()
        except Exception:  # whatever the driver raises: this question is about just that
            return AWAY
        return OK

    async def _storage_state(self) -> str:
        if self._clock.monotonic() < self._stored_until:
            return self._stored
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._objects.check()
            self._stored = OK
        except (SetupError, TimeoutError) as error:
            logger.warning("the storage failed a trial", action="storage_away", error=str(error)[:200])
            self._stored = AWAY
        self._stored_until = self._clock.monotonic() + STORED_S
        return self._stored


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
