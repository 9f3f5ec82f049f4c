"""The application in process, with a real database, a real nats-server and a real folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from harness.api_room import ApiRoom, api_room, nats_process, tone_wav
from harness.fake_clock import FakeClock
from sederunt.settings import BusSettings, DatabaseSettings, LiveSettings


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock, address: str) -> AsyncIterator[ApiRoom]:
    """On both engines, with limits that a test can reach."""
    limits = {"max_upload_bytes": 3_000_000, "max_body_mb": 1, "concurrent_bots": 12, "requests_per_minute": 500}
    live = LiveSettings(max_bots=2)
    database = DatabaseSettings(url=address)
    async with api_room(tmp_path / "data", bus_settings, clock, api=limits, live=live, database=database) as opened:
        yield opened


@pytest.fixture(scope="session")
def wav() -> bytes:
    """A second of a tone, 16 kHz mono."""
    return tone_wav()
