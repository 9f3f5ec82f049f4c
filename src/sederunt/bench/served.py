"""A whole service as a child, spoken to through the public interface."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from sederunt.bench.processes import ENDINGS, service_process


@asynccontextmanager
async def served(data: Path, host_rules: str, settings: Mapping[str, str]) -> AsyncIterator[httpx2.AsyncClient]:
    """Provide a client with the first key of a service whose bots reach the practice sites. Drained at the end."""
    async with (
        service_process(data, host_rules, settings=settings) as service,
        httpx2.AsyncClient(base_url=service.base_url, headers=service.headers, timeout=30) as client,
    ):
        yield client


async def ending(client: httpx2.AsyncClient, bot_id: str, *, within_s: float) -> dict[str, Any]:
    """Return the bot once it has ended. TimeoutError past the deadline."""
    async with asyncio.timeout(within_s):
        while True:
            answer = await client.get(f"/bot/{bot_id}")
            answer.raise_for_status()
            bot: dict[str, Any] = answer.json()
            if bot["status"] in ENDINGS:
                return bot
            await asyncio.sleep(1)
