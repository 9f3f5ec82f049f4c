"""`sederunt bench start`: from POST /bot to the first captured audio, on a warm service, admitted at once."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.progress import track

from sederunt.bench.capture import open_meeting
from sederunt.bench.processes import ENDINGS, practice_process
from sederunt.bench.served import served
from sederunt.practice.client import PracticeClient

LIMIT_S = 2.0
console = Console(stderr=True)


async def bench_start(repeats: int) -> int:
    """Print each run and the median in seconds; 1 where the median is over the limit."""
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as data:
        async with practice_process() as practice, served(Path(data), await practice.host_rules(), {}) as http:
            await one_start(http, practice)  # the first one warms browsers and caches
            times = [await one_start(http, practice) for _ in track(range(repeats), "starting bots", console=console)]
    median = statistics.median(times)
    print(", ".join(f"{seconds:.2f}" for seconds in times))
    print(f"POST to first captured audio: median {median:.2f} s of {repeats} (at most {LIMIT_S:g} s)")
    return 1 if median > LIMIT_S else 0


async def one_start(http: httpx2.AsyncClient, practice: PracticeClient) -> float:
    """Start one bot: POST, wait until it records for a moment, stop it, and read when its first audio came."""
    meeting = await open_meeting(practice, {})
    body = {"service": "gmeet", "meeting_url": meeting.url, "bot_name": "Bench", "transcription_model": "none"}
    posted_ms = time.time() * 1000
    bot = (await http.post("/bot", json=body)).json()
    await _until(http, bot["id"], {"recording"})
    await asyncio.sleep(2)
    await http.post(f"/bot/{bot['id']}/stop")
    ended = await _until(http, bot["id"], ENDINGS)
    await meeting.close()
    return float(ended["capture"]["first_audio_ms"] - posted_ms) / 1000


async def _until(http: httpx2.AsyncClient, bot_id: str, statuses: set[str] | frozenset[str]) -> dict[str, Any]:
    while True:
        bot: dict[str, Any] = (await http.get(f"/bot/{bot_id}")).json()
        if bot["status"] in statuses:
            return bot
        if bot["status"] in ENDINGS:
            raise SystemExit(f"the bot ended as {bot['status']}")
        await asyncio.sleep(0.2)
