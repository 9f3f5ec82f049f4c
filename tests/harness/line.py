"""A line between a client and a server that a test can cut, or silence."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


class Line:
    """Passes bytes on, both ways, to a port or a socket of this machine, while `passing` is set."""

    def __init__(self, target: int | Path) -> None:
        self.port = 0
        self.opened = 0  # connections so far
        self.losing = 0  # answers that are still to be lost, their connection with them
        self.passing = asyncio.Event()
        self.passing.set()
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Break every connection at once, as a network does: without a word."""
        for writer in self._writers:
            writer.transport.abort()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.opened += 1
        if isinstance(self._target, int):
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        else:
            there, back = await asyncio.open_unix_connection(self._target)
        self._writers |= {writer, back}
        try:
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer, is_answer=True))
        finally:
            self._writers -= {writer, back}

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_answer: bool = False
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while block := await source.read(65_536):
                if is_answer and self.losing:
                    self.losing -= 1
                    target.transport.abort()
                    return
                await self.passing.wait()
                target.write(block)
                await target.drain()
        target.close()


@asynccontextmanager
async def line_to(target: int | Path, *, address: str = "127.0.0.1") -> AsyncIterator[Line]:
    """Provide a line to a port or a socket, and the port of its own end at an address of this machine."""
    line = Line(target)
    server = await asyncio.start_server(line.take, address, 0)
    line.port = server.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        server.close()
        line.cut()
