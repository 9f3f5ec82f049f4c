"""For every test: no setting of the caller's environment, patience with examples, a clock that can be moved, and a
PostgreSQL server on demand.
"""

import asyncio
import faulthandler
import os
import random
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import delete

from harness.fake_clock import FakeClock
from harness.postgres import PostgresServer, postgres_server
from sederunt.database.engine import Database
from sederunt.database.tables import metadata

LAST_WORDS: pytest.StashKey[IO[str]] = pytest.StashKey()
DATABASE_FILE = "sederunt.db"

# Before any test asks for settings: an operator's own settings must not reach a test.
for _name in [name for name in os.environ if name.startswith("SEDERUNT_")]:
    del os.environ[_name]

HANG_S = 900.0  # that a test may take beyond its alarm


def pytest_configure(config: pytest.Config) -> None:
    """Keep the way to where a process's last words are read: while a test runs, its output is taken in."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        config.stash[LAST_WORDS] = os.fdopen(os.dup(2), "w")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process of a test that hangs, and with it the test, by name.

    Its alarm is an exception. Raised in a task that nobody waits for it ends nothing, and a loop that waits for a
    thread before it closes outlives it.
    """
    _watch(item)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Watch on: pytest takes a failure for the end of the test, but what it opened is closed behind it."""
    if isinstance(node, pytest.Item):
        _watch(node)


def _watch(item: pytest.Item) -> None:
    marker = item.get_closest_marker("timeout")
    alarm_s = float(marker.args[0] if marker else item.config.getini("timeout"))
    faulthandler.dump_traceback_later(alarm_s + HANG_S, file=item.config.stash[LAST_WORDS], exit=True)


# What sites disagree about is drawn anew each time, once for all of a run's processes; the matrix shows the seed.
os.environ.setdefault("DISAGREE_SEEDS", str(random.randrange(1_000_000)))

# How long one example takes, or its making, says only how busy the machine is. The examples of a run are those of the
# run before it: what is green here is green elsewhere. `make fuzz` draws new ones, and more.
settings.register_profile(
    "patient",
    deadline=None,
    derandomize="FUZZ_SECONDS" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands at 09:00 UTC on 2 March 2026 until it is moved."""
    return FakeClock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for the session; see PostgresServer.fresh_database."""
    with postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that does not exist yet (SQLite) or is empty (PostgreSQL), for who works at its tables themselves."""
    if request.param == "sqlite":
        return sqlite_address(tmp_path)
    fresh: str = request.getfixturevalue("postgres").fresh_database()
    return fresh


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with all tables and nothing in them: what uses it is tested on both engines. To migrate an empty one
    would cost as much as most tests do.
    """
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_tables"), tmp_path / DATABASE_FILE)
        return sqlite_address(tmp_path)
    emptied: str = request.getfixturevalue("postgres_tables")
    request.getfixturevalue("postgres").empty(emptied, metadata.tables)
    return emptied


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    asyncio.run(migrated(sqlite_address(folder)))
    return folder / DATABASE_FILE


@pytest.fixture(scope="session")
def postgres_tables(postgres: PostgresServer) -> str:
    address = postgres.fresh_database()
    asyncio.run(migrated(address))
    return address


async def migrated(address: str) -> None:
    """Make the tables there, and leave nothing in them."""
    async with Database(address) as database, database.begin() as connection:
        await connection.execute(delete(metadata.tables["accounts"]))


def sqlite_address(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / DATABASE_FILE}"
