"""The application, a worker's house on the same data, and a file server on a loopback port."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from harness.api_room import ApiRoom, api_room, nats_process
from harness.file_server import Files, file_server
from sederunt.clock import SYSTEM_CLOCK
from sederunt.settings import BusSettings


@pytest.fixture
def files() -> Iterator[Files]:
    with file_server() as known:
        yield known


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture(params=[True], ids=[""])
def allow_private(request: pytest.FixtureRequest) -> bool:
    """Whether addresses of this machine may be fetched; parametrize it to change that."""
    allowed: bool = request.param
    return allowed


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, allow_private: bool) -> AsyncIterator[ApiRoom]:
    limits = {"max_upload_bytes": 200_000, "max_recording_hours": 5 / 3600}
    async with api_room(
        tmp_path / "data", bus_settings, SYSTEM_CLOCK, api=limits, allow_private_addresses=allow_private
    ) as opened:
        yield opened
