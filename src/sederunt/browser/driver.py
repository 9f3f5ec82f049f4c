"""The browser driver of this process, and the folder where it and its browsers write while they run.

A folder is removed by its owner. A killed process cannot do that, so the next process that starts a driver does: a
folder has an owner as long as its lock is held, and the kernel releases the lock with the process. Programs that clean
temporary files honour such locks too.

The folder is among the temporary files, not in the data directory: that may be on a slow disk, which would then also
hold the shared memory of a browser's processes, and its path may be too long for Chromium's socket.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable
from playwright.async_api import Error as DriverError
from playwright.async_api import Playwright, async_playwright

from sederunt import log
from sederunt.browser.launch import KNOWN_PREFIXES, KNOWN_VARIABLES
from sederunt.browser.processes import when_ended
from sederunt.errors import SetupError

PREFIX = "sederunt-browsers-"
PIPE_FILTER = Path(__file__).with_name("node") / "pipe_filter.cjs"
# The part of our environment that the driver may see.
_OF_DRIVER = KNOWN_VARIABLES | {"TMPDIR", "DEBUG"}
_OF_DRIVER_PREFIXES = (*KNOWN_PREFIXES, "NODE_", "PLAYWRIGHT_", "PW")

logger = log.get(component="browser")


@dataclass(frozen=True, slots=True)
class BrowserDriver:
    """A running driver, and the folder in which its browsers write."""

    playwright: Playwright
    folder: Path
    pid: int
    gone: asyncio.Event  # its browsers end with it, without any report


@asynccontextmanager
async def running_driver() -> AsyncIterator[BrowserDriver]:
    """Provide one driver process that leaves nothing on disk; remove the leftovers of killed processes first."""
    await asyncio.to_thread(sweep_folders)
    with own_folder() as folder:
        variables = {"NODE_OPTIONS": _node_options(os.environ.get("NODE_OPTIONS", "")), "TMPDIR": str(folder)}
        with suppress(DriverError):  # its program is missing; starting it says so
            variables["PLAYWRIGHT_NODEJS_PATH"] = str(_forgetful(compute_driver_executable()[0], folder))
        with _environment(variables):
            manager = async_playwright()
            try:
                playwright = await manager.__aenter__()
            except Exception as error:
                raise SetupError(await _why_not_started()) from error
        gone_event = asyncio.Event()
        client: Any = manager  # the driver's client has no public access to its process
        pid = int(client._client._transport._proc.pid)
        unwatch = when_ended(pid, gone_event.set)
        try:
            yield BrowserDriver(playwright, folder, pid, gone_event)
        finally:
            unwatch()
            await manager.__aexit__(None, None, None)


def _node_options(other_options: str) -> str:
    # Without the file that filters its browsers' messages, the driver's program ends at once, and a browser whose
    # messages the file does not find is not started: otherwise one page could end the driver of all.
    quoted = str(PIPE_FILTER).replace("\\", "\\\\").replace('"', '\\"')
    # A small young generation: 30 MiB less with eight bots, CPU unchanged (measured).
    return f'{other_options} --max-semi-space-size=1 --require "{quoted}"'.strip()


def _forgetful(program: str, folder: Path) -> Path:
    # Returns a script that starts a program without those of our variables that it does not need: the program reads
    # pages' messages, and our variables contain the token of the bus, or the keys of a bucket.
    names = [name for name in os.environ if name not in _OF_DRIVER and not name.startswith(_OF_DRIVER_PREFIXES)]
    script = folder / "driver"
    command = shlex.join(["env", *(f"--unset={name}" for name in names), program])
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


async def _why_not_started() -> str:
    # Starts the driver's program alone to read its message: its client only knows that it ended.
    program = compute_driver_executable()[0]
    try:
        process = await asyncio.create_subprocess_exec(
            program, "--version", stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        message = (await process.communicate())[1].decode(errors="replace").strip()
    except OSError as error:
        message = str(error)
    library = re.search(r"(lib\w+)\.so\.(\d+): cannot open", message)
    remedy = f" Install it: apt-get install {library[1]}{library[2]}." if library else ""
    return f"The browser's driver did not start: {message or 'it ended at once'}.{remedy}"


@contextmanager
def own_folder() -> Iterator[Path]:
    """Provide a folder that has an owner until the end of the block, or of the process."""
    folder, lock = _make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_folder() -> tuple[Path, int]:
    # Makes a folder; returns it and the descriptor that holds its lock.
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with contextlib.suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def sweep_folders() -> int:
    """Remove the folders of this user's ended processes; return how many."""
    count = sum(_sweep(folder) for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    if count:
        logger.warning("folders of killed processes were removed", action="folders_swept", count=count)
    return count


def _sweep(folder: Path) -> bool:
    # Removes a folder unless it has an owner, or belongs to another user.
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # another user's, or gone meanwhile
        return False
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    except BlockingIOError:  # its owner lives
        return False
    finally:
        os.close(lock)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    # Changes this process's environment for the block: the driver inherits it, and there is no other way to set it.
    previous = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in previous.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
