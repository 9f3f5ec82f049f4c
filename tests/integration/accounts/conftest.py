"""An open database with a sealer: what the accounts' rooms stand on. The stores' own tests run on both engines."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        address = f"sqlite+aiosqlite:///{tmp_path}/sederunt.db"
    else:
        address = request.getfixturevalue("postgres").fresh_database()
    async with Database(address, clock=clock) as opened:
        yield opened


@pytest.fixture
def sealer() -> Sealer:
    return Sealer(["k" * 40])
