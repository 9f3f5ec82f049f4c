"""The application, and a file server on a loopback port that has the calendars."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from harness.api_room import ApiRoom, api_room, nats_process
from harness.fake_clock import FakeClock
from harness.file_server import Files, file_server
from sederunt.settings import BusSettings


@pytest.fixture
def files() -> Iterator[Files]:
    with file_server() as known:
        yield known


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock) -> AsyncIterator[ApiRoom]:
    async with api_room(tmp_path / "data", bus_settings, clock, allow_private_addresses=True) as opened:
        yield opened
