"""A role's process as its supervisor sees it: started by this program, or by the one before it."""

import asyncio
import os
from dataclasses import dataclass
from typing import Protocol

LINE_LIMIT = 1 << 20  # a log line longer than this is cut


@dataclass(frozen=True, kw_only=True)
class RunningRole:
    """A role's process that the program before this one started, and the descriptors of its output."""

    pid: int
    output: int
    errors: int
    ready: bool


class RoleProcess(Protocol):
    """The interface of a role's process."""

    @property
    def pid(self) -> int:
        """Return its id."""
        ...

    @property
    def returncode(self) -> int | None:
        """Return its exit code; None while it runs."""
        ...

    def send_signal(self, signal: int, /) -> None:
        """Send it a signal. Raises ProcessLookupError where it has ended."""

    async def wait(self) -> int:
        """Wait for its end; its exit code, negative for a signal."""
        ...


class TakenOver:
    """A child that the program before this one started. asyncio can wait only for children that it started itself."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def send_signal(self, signal: int, /) -> None:
        """Send it a signal. Raises ProcessLookupError where it has ended."""
        os.kill(self.pid, signal)

    async def wait(self) -> int:
        """Wait for its end; its exit code, negative for a signal."""
        end_event, descriptor = asyncio.Event(), os.pidfd_open(self.pid)
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, end_event.set)
        try:
            await end_event.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])  # noqa: ASYNC222  # it has ended
        return self.returncode


@dataclass(frozen=True, kw_only=True)
class Spawned:
    """A process just started, its output, and the descriptors of that."""

    process: RoleProcess
    output: asyncio.StreamReader
    errors: asyncio.StreamReader
    files: tuple[int, int]


class Pipe:
    """A pipe of our own: with asyncio's, a dead child counts as alive while its children hold the pipe."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()

    async def __aenter__(self) -> "Pipe":
        self.reader = await reader_of(self.read_end)
        return self

    async def __aexit__(self, *_: object) -> None:
        os.close(self.write_end)


async def reader_of(read_end: int) -> asyncio.StreamReader:
    """Return a reader of a pipe."""
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    file = os.fdopen(read_end, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader
