"""The browser driver of this process, and the folder where it and its browsers write while they run.

A folder is removed by its owner. A process that was killed cannot do that, so the next one that starts a driver does:
a folder has an owner for as long as somebody holds its lock, which the kernel lets go with the process. Those who
clean temporary files on a machine honour such locks too.

It lies where temporary files lie, not in the data directory: that one may be on a slow disk, where the memory that a
browser's processes share would then be as well, and its path may be too long for the socket that Chromium makes.
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
# What the driver may see of our environment.
_OF_DRIVER = KNOWN_VARIABLES | {"TMPDIR", "DEBUG"}
_OF_DRIVER_PREFIXES = (*KNOWN_PREFIXES, "NODE_", "PLAYWRIGHT_", "PW")

logger = log.get(component="browser")


@dataclass(frozen=True, slots=True)
class BrowserDriver:
    """A driver that runs, and the folder for what its browsers write."""

    playwright: Playwright
    folder: Path
    pid: int
    gone: asyncio.Event  # its browsers are gone with it, and tell nobody


@asynccontextmanager
async def running_driver() -> AsyncIterator[BrowserDriver]:
    """Provide one driver process, with nothing left on disk afterwards; what killed processes left there is removed
    first.
    """
    await asyncio.to_thread(sweep_folders)
    with own_folder() as folder:
        variables = {"NODE_OPTIONS": _node_options(os.environ.get("NODE_OPTIONS", "")), "TMPDIR": str(folder)}
        with suppress(DriverError):  # without its program; starting it says so
            variables["PLAYWRIGHT_NODEJS_PATH"] = str(_forgetful(compute_driver_executable()[0], folder))
        with _environment(variables):
            starting = async_playwright()
            try:
                playwright = await starting.__aenter__()
            except Exception as error:
                raise SetupError(await _why_not_started()) from error
        gone_event = asyncio.Event()
        client: Any = starting  # the driver's client has no public word for its process
        pid = int(client._client._transport._proc.pid)
        unwatch = when_ended(pid, gone_event.set)
        try:
            yield BrowserDriver(playwright, folder, pid, gone_event)
        finally:
            unwatch()
            await starting.__aexit__(None, None, None)


def _node_options(others: str) -> str:
    """Return the options of the driver's program; without the file that filters its browsers' messages it ends at once,
    and a browser whose messages the file does not find is not started: one page could end the driver of all.
    """
    quoted = str(PIPE_FILTER).replace("\\", "\\\\").replace('"', '\\"')
    # A small young generation: 30 MiB less with eight bots, CPU unchanged (measured).
    return f'{others} --max-semi-space-size=1 --require "{quoted}"'.strip()


def _forgetful(program: str, folder: Path) -> Path:
    """Return what starts a program without those variables of ours that it needs not: it reads what pages say, and
    ours have the token of the bus, or the keys of a bucket.
    """
    names = [name for name in os.environ if name not in _OF_DRIVER and not name.startswith(_OF_DRIVER_PREFIXES)]
    script = folder / "driver"
    command = shlex.join(["env", *(f"--unset={name}" for name in names), program])
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return script


async def _why_not_started() -> str:
    """Return what the driver's program says when it is started by itself: its client only knows that it is gone."""
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
    """Provide a folder that counts as owned until the end of the block, or of the process."""
    folder, lock = _make_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_folder() -> tuple[Path, int]:
    """Make a folder; returns it and the descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with contextlib.suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def sweep_folders() -> int:
    """Remove the folders of this user's processes that are gone; returns how many."""
    count = sum(_sweep(folder) for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    if count:
        logger.warning("folders of killed processes were removed", action="folders_swept", count=count)
    return count


def _sweep(folder: Path) -> bool:
    """Remove a folder unless it has an owner, or is another user's."""
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
    """Change this process's environment for the block: the driver takes it over; there is no other way to give
    it one.
    """
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
