"""The programs that demonstrations and measurements run beside themselves: the service, the practice sites, a child."""

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from sederunt.practice.client import PracticeClient
from sederunt.python_child import python_command

READY_S = 240
START_DEADLINE_S = 240
DRAIN_S = 60
SHOWN_LOG = 5_000  # bytes of a quiet child's log
ENDINGS = frozenset({"finished", "not_admitted", "bot_detected", "auth_required", "invalid_credentials", "failed"})


@dataclass(frozen=True, kw_only=True)
class ServiceProcess:
    base_url: str
    key: str
    data: Path
    pid: int
    console_link: str  # signs in once

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@asynccontextmanager
async def service_process(
    data: Path, host_rules: str, *, keep: bool = False, settings: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[ServiceProcess]:
    """`sederunt serve` as a child on a free port; ends it by SIGTERM unless it is to be kept.

    Only these settings hold, on tiny.en where they name no model: what is shown must not depend on whose shell it is.
    """
    log = (data / "serve.log").open("wb")
    environment = {
        **_without_settings(os.environ),
        **({"SEDERUNT_BROWSER__HOST_RULES": host_rules} if host_rules else {}),
        **({"SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true"} if host_rules else {}),
        "SEDERUNT_WHISPER__MODEL": "tiny.en",
        **settings,
    }
    child = await asyncio.create_subprocess_exec(
        *python_command("-m", "sederunt.cli.main", "serve", "--data", str(data), "--port", "0"),
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=log, start_new_session=keep,
    )  # fmt: skip
    try:
        said = await _read_until(child, ("Listening on", "API key file"), "the service", data / "serve.log")
        address = re.search(r"Listening on (\S+)", said)
        console = re.search(r"Console: (\S+)", said)
        key = re.search(r"API key file: (.+)", said)
        assert address is not None
        assert key is not None
        assert console is not None
        yield ServiceProcess(
            base_url=f"{address[1]}/api/v1",
            key=Path(key[1]).read_text(encoding="ascii").strip(),
            data=data,
            pid=child.pid,
            console_link=console[1],
        )
    finally:
        if not keep:
            await _end(child)


async def _read_until(child: asyncio.subprocess.Process, words: tuple[str, ...], who: str, log: Path) -> str:
    """Standard output until all words were seen."""
    assert child.stdout is not None
    said = ""
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            while not all(word in said for word in words):
                line = (await child.stdout.readline()).decode()
                if not line:
                    raise SystemExit(f"{who} ended before it was ready; its log is {log}:\n{log.read_text()[-3000:]}")
                said += line
    except TimeoutError:
        raise SystemExit(f"{who} was not ready within {START_DEADLINE_S} s; its log is {log}") from None
    return said


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(child.wait(), DRAIN_S)
        except TimeoutError:
            child.kill()
            await child.wait()


@asynccontextmanager
async def child(module: str, *arguments: str, quiet: bool = False) -> AsyncIterator[asyncio.subprocess.Process]:
    """Provide a Python process of ours; ended when the context ends.

    Args:
        quiet: what it logs is shown only where it, or what was done with it, failed.
    """
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *python_command("-m", module, *arguments),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 28,
            stderr=log if quiet else None,
        )  # fmt: skip
        failed = True
        try:
            yield process
            failed = False
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()
            if failed or process.returncode not in (0, -signal.SIGTERM):
                _show_log(log, f"{module} {' '.join(arguments)}", process.returncode)


def _show_log(log: IO[bytes], who: str, code: int | None) -> None:
    """Show the end of what a child logged."""
    log.seek(max(log.seek(0, os.SEEK_END) - SHOWN_LOG, 0))
    if text := log.read().decode(errors="replace").strip():
        print(f"{who} ended with exit code {code}, and logged at last:\n{text}", file=sys.stderr)


async def said(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """Return the next JSON line of a child. SystemExit where it ends or says nothing: its log tells why."""
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), READY_S)
    except TimeoutError:
        raise SystemExit(f"process {process.pid} said nothing within {READY_S} s") from None
    if not line:
        raise SystemExit("a measured process ended early; its log tells the reason")
    found: dict[str, Any] = json.loads(line)
    return found


@asynccontextmanager
async def practice_process(speech: Path | None = None) -> AsyncIterator[PracticeClient]:
    """Provide the practice sites in a process of their own, so that they are not counted; with the clips of that
    folder.
    """
    serve = ("practice", "serve", "--port", "0", "--control-port", "0", "--control-token")
    more = ["--speech", str(speech)] if speech else []
    async with child("sederunt.cli.main", *serve, *more, quiet=True) as process:
        facts = await said(process)
        async with PracticeClient(facts["control_url"]) as client:
            yield client
        process.terminate()


def _without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("SEDERUNT_")}


async def run_command(*arguments: str, settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """Run one `sederunt` command under these settings alone; return what it printed. SystemExit where it failed."""
    child = await asyncio.create_subprocess_exec(
        *python_command("-m", "sederunt.cli.main", *arguments),
        env={**_without_settings(os.environ), **settings},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complaint = await child.communicate()
    if child.returncode:
        raise SystemExit(f"sederunt {' '.join(arguments)}: {complaint.decode()}")
    return said.decode()
