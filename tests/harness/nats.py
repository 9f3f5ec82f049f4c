"""A real nats-server on a folder of its own, which a test may kill and start again, and connections to it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sederunt.bus.connection import Bus
from sederunt.bus.embedded import EmbeddedServer, prepare
from sederunt.settings import BusSettings


class NatsServer:
    """The embedded server, run by the test."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.embedded: EmbeddedServer = prepare(data)
        self._process: asyncio.subprocess.Process | None = None

    def settings(self, ack_wait_s: float = 2.0) -> BusSettings:
        return BusSettings(url=self.embedded.url, token=self.embedded.token, ack_wait_s=ack_wait_s, replicas=1)

    async def start(self) -> None:
        with (self._data / "nats.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*self.embedded.command, stdout=log, stderr=log)

    async def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()


class Connections:
    """Opens connections as processes of their own would, and closes them all."""

    def __init__(self, server: NatsServer) -> None:
        self._server = server
        self._opened: list[Bus] = []

    async def __call__(self, *, ack_wait_s: float = 2.0, name: str = "test") -> Bus:
        bus = await Bus.connect(self._server.settings(ack_wait_s), name=name)
        self._opened.append(bus)
        return bus

    async def close(self) -> None:
        for bus in self._opened:
            await bus.close()


@asynccontextmanager
async def running_server(data: Path) -> AsyncIterator[NatsServer]:
    """A server that runs until the end of the block, however often it is killed in it."""
    server = NatsServer(data)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
