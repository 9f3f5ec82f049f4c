"""An open database with a sealer: what the accounts' rooms stand on. The stores' own tests run on both engines."""

from collections.abc import AsyncIterator

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounts.sealing import Sealer
from sederunt.database.engine import Database


@pytest.fixture
async def database(address: str, clock: FakeClock) -> AsyncIterator[Database]:
    async with Database(address, clock=clock) as opened:
        yield opened


@pytest.fixture
def sealer() -> Sealer:
    return Sealer(["k" * 40])
