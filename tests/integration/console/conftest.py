"""The application with its console in this process."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from harness.api_room import ApiRoom, api_room, nats_process
from harness.console_room import Furnished, furnish
from sederunt.accounts import password_hashing
from sederunt.clock import SYSTEM_CLOCK
from sederunt.settings import BusSettings


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings) -> AsyncIterator[ApiRoom]:
    async with api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK) as opened:
        yield opened


@pytest.fixture
async def furnished(room: ApiRoom) -> Furnished:
    return await furnish(room)


@pytest.fixture(autouse=True)
def quick_argon2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries are counted by the minute, and on a busy machine a thread that gives way takes seconds for each."""
    monkeypatch.setattr(password_hashing, "_hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
