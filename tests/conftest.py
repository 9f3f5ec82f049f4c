"""For every test: no setting of the caller's environment, patience with examples, a clock that can be moved, and a
PostgreSQL server on demand.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from harness.fake_clock import FakeClock
from harness.postgres import PostgresServer, postgres_server

# Before any of our modules is imported: an operator's own settings must not reach a test.
for _name in [name for name in os.environ if name.startswith("SEDERUNT_")]:
    del os.environ[_name]

# How long one example takes, or its making, says only how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that does not exist yet (SQLite) or is empty (PostgreSQL): what uses it is tested on both."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/sederunt.db"
    fresh: str = request.getfixturevalue("postgres").fresh_database()
    return fresh
