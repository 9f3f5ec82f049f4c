"""A role that froze in the middle of a transaction, under the eyes of a supervisor: both are processes of their own."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from harness.nats import NatsServer
from sederunt.bus.connection import Bus, BusAway
from sederunt.bus.tasks import end
from sederunt.cli import watch
from sederunt.database import locks
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.tables import accounts

# Beats as a worker does, until its supervisor has heard it; then it stops with the write lock in its hand. Its
# successor goes on beating.
FREEZES = """
import asyncio, os, signal, sys
from pathlib import Path
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import beating, hearing
from sederunt.database.engine import Database
from sederunt.settings import load

async def nothing_more():
    return {}

async def main():
    address, mark = sys.argv[1], Path(sys.argv[2])
    bus = await Bus.connect(load().bus, name="worker")
    async with hearing(bus) as heartbeats:
        while not heartbeats.living("serve"):
            await asyncio.sleep(0.05)
        async with beating(bus, "worker", "w", nothing_more):
            while not heartbeats.living("worker"):
                await asyncio.sleep(0.05)
            if not mark.exists():
                async with Database(address) as database, database.begin():
                    mark.write_text(str(os.getpid()))
                    os.kill(os.getpid(), signal.SIGSTOP)
            print('{"ready": "worker"}', flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""

SUPERVISES = """
import asyncio, sys
from pathlib import Path
from sederunt import log
from sederunt.cli.supervisor import Role, Supervisor
from sederunt.cli.watch import end_frozen
from sederunt.settings import load

log.configure()

async def main():
    run, code, path, mark = sys.argv[1:]
    supervisor = Supervisor(Path(run))
    child = supervisor.start(Role(name="worker", command=(sys.executable, "-c", code, f"sqlite:///{path}", mark)))
    watch = asyncio.create_task(end_frozen(supervisor, load().bus, Path(path)))
    await child.ready.wait()
    watch.cancel()
    await supervisor.stop(["worker"], 1)

asyncio.run(main())
"""


@pytest.mark.timeout(300)
async def test_a_role_that_froze_with_the_database_locked_is_replaced_and_writers_go_on(
    server: NatsServer, tmp_path: Path
) -> None:
    path, mark = tmp_path / "sederunt.db", tmp_path / "frozen"
    bus = server.settings()
    assert bus.url is not None
    assert bus.token is not None
    environment = {**os.environ, "SEDERUNT_BUS__URL": bus.url, "SEDERUNT_BUS__TOKEN": bus.token.get_secret_value()}
    async with Database(f"sqlite:///{path}") as database:
        supervising = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SUPERVISES, str(tmp_path / "run"), FREEZES, str(path), str(mark)),
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(120):
            while not mark.exists() or locks.holders(path) != {int(mark.read_text())}:  # noqa: ASYNC110  # a file
                await asyncio.sleep(0.02)
        written = asyncio.create_task(_write(database))
        _, said = await supervising.communicate()
        await written
    assert supervising.returncode == 0
    (frozen,) = [line for line in map(json.loads, said.splitlines()) if line.get("action") == "role_frozen"]
    assert frozen["frozen"] == "worker"
    assert frozen["database_locked"] is True


async def _write(database: Database) -> None:
    """Write as a request does; on a machine where the role is replaced late, as its caller's next try does."""
    row = {"id": new_id(database.clock.now()), "name": "late", "created_at": database.clock.now()}
    async with asyncio.timeout(180):
        while True:
            try:
                async with database.begin() as connection:
                    await connection.execute(text("SELECT 1"))
                    await connection.execute(insert(accounts).values(**row))
            except Exception as error:
                if "locked" not in str(error):
                    raise
                continue
            return


async def test_a_watch_that_could_not_begin_begins_anew(server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, tries, told = Bus.connect, 0, list[str]()

    async def connect_late(*arguments: Any, **options: Any) -> Bus:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise BusAway("NATS did not answer.")
        return await connect(*arguments, **options)

    monkeypatch.setattr(Bus, "connect", connect_late)
    monkeypatch.setattr(watch, "AGAIN_S", 0)
    monkeypatch.setattr(watch.logger, "exception", lambda _event, *, action: told.append(action))
    role = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    role.send_signal(signal.SIGSTOP)
    watching = asyncio.create_task(watch.end_frozen(_OneRole(role), server.settings(), None))
    try:
        async with asyncio.timeout(120):
            assert await role.wait() == -signal.SIGKILL
    finally:
        await end(watching)
        with contextlib.suppress(ProcessLookupError):
            role.kill()
        await role.wait()
    assert (tries, told) == (3, ["watch_failed"])


class _OneRole:
    """What the watch asks of a supervisor. A real one ends all processes beneath its own: those of other tests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def pids(self) -> dict[str, int | None]:
        return {"worker": self._process.pid if self._process.returncode is None else None}

    def kill(self, name: str) -> None:
        assert name == "worker"
        self._process.kill()
