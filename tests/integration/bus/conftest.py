"""A real nats-server per test, which may be killed and started again, and a bus connected to it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sederunt.bus.connection import Bus
from sederunt.bus.embedded import EmbeddedServer, prepare
from sederunt.settings import BusSettings


class Server:
    """nats-server on a folder of its own."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.embedded: EmbeddedServer = prepare(data)
        self._process: asyncio.subprocess.Process | None = None

    def settings(self, ack_wait_s: float = 2.0) -> BusSettings:
        return BusSettings(url=self.embedded.url, token=self.embedded.token, ack_wait_s=ack_wait_s, replicas=1)

    async def start(self) -> None:
        log = (self._data / "nats.log").open("ab")
        self._process = await asyncio.create_subprocess_exec(*self.embedded.command, stdout=log, stderr=log)

    async def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()


Connect = Callable[..., Awaitable[Bus]]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    running = Server(tmp_path)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def connect(server: Server) -> AsyncIterator[Connect]:
    """Open a connection as a process of its own would; all are closed at the end."""
    opened: list[Bus] = []

    async def one(ack_wait_s: float = 2.0, name: str = "test") -> Bus:
        bus = await Bus.connect(server.settings(ack_wait_s), name=name)
        opened.append(bus)
        return bus

    yield one
    for bus in opened:
        await bus.close()


@pytest.fixture
async def bus(connect: Connect) -> Bus:
    return await connect()
