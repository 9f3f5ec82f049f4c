"""A running service, and clients of the protocol that speak to it over both transports."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from harness.api_room import api_room, nats_process, on_a_socket
from harness.fake_clock import FakeClock
from harness.socket_room import Stage
from sederunt.settings import BusSettings


@pytest.fixture(scope="session")
def bus_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusSettings]:
    with nats_process(tmp_path_factory.mktemp("nats")) as settings:
        yield settings


@pytest.fixture
async def stage(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock) -> AsyncIterator[Stage]:
    async with (
        api_room(tmp_path / "data", bus_settings, clock, api={"concurrent_bots": 12}) as room,
        on_a_socket(room.app) as port,
    ):
        yield Stage(room, clock, port)
