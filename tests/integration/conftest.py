"""For who works with the bus: a real nats-server per test, and connections to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.nats import Connections, NatsServer, running_server
from sederunt.bus.connection import Bus


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    async with running_server(tmp_path) as running:
        yield running


@pytest.fixture
async def connect(server: NatsServer) -> AsyncIterator[Connections]:
    connections = Connections(server)
    yield connections
    await connections.close()


@pytest.fixture
async def bus(connect: Connections) -> Bus:
    return await connect()
