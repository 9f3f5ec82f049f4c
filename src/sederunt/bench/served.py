"""A whole `sederunt serve` as a child, for measurements that go through the public interface."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from sederunt.errors import SetupError

READY_S = 90
DRAIN_S = 60
ENDINGS = frozenset({"finished", "not_admitted", "bot_detected", "auth_required", "invalid_credentials", "failed"})


@asynccontextmanager
async def served(data: Path, host_rules: str, settings: Mapping[str, str]) -> AsyncIterator[httpx.AsyncClient]:
    """A service on a free port whose bots reach the practice sites; a client with its first key. Drained at the end."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SEDERUNT_")},
        "SEDERUNT_BROWSER__HOST_RULES": host_rules,
        "SEDERUNT_BROWSER__IGNORE_CERTIFICATE_ERRORS": "true",
        **settings,
    }
    with (data / "serve.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sederunt.cli.main", "serve", "--data", str(data), "--port", "0",
            env=environment, stdout=asyncio.subprocess.PIPE, stderr=log,
        )  # fmt: skip
        try:
            address, key = await asyncio.wait_for(_greeting(process, data), READY_S)
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=30) as client:
                yield client
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), DRAIN_S)
            except TimeoutError:
                process.kill()


async def ending(client: httpx.AsyncClient, bot_id: str, *, within_s: float) -> dict[str, Any]:
    """The bot once it has ended. TimeoutError past the deadline."""
    async with asyncio.timeout(within_s):
        while True:
            answer = await client.get(f"/bot/{bot_id}")
            answer.raise_for_status()
            bot: dict[str, Any] = answer.json()
            if bot["status"] in ENDINGS:
                return bot
            await asyncio.sleep(1)


async def _greeting(process: asyncio.subprocess.Process, data: Path) -> tuple[str, str]:
    """(address, API key) that a new service tells on its standard output."""
    assert process.stdout is not None
    key = ""
    while line := (await process.stdout.readline()).decode():
        if found := re.search(r"API key: (\S+)", line):
            key = found[1]
        if found := re.search(r"Listening on (\S+)", line):
            return found[1], key
    last = (data / "serve.log").read_text(encoding="utf-8", errors="replace")[-2000:]
    raise SetupError(f"The service ended before it listened: {last}")
