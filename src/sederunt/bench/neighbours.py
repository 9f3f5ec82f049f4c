"""`sederunt bench neighbours`: what one account's attacks cost another account, as ratios to the same service at rest.

Each row has a service of its own. At rest, and then beside the attack, another account asks for its recordings and has
one fetched, transcribed and told of; the figures are medians. Attack and neighbour come from two addresses of this
machine. A ratio is of one run and one machine; where a machine has other work, repeat it.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import httpx2
from rich.console import Console
from rich.table import Table

from sederunt.bench.hostile_files import boxes, elements, lasting_years, tone
from sederunt.bench.outside import Outside, outside
from sederunt.bench.processes import ServiceProcess, run_command, service_process
from sederunt.model.budgets import count_of

KINDS = ("request", "fetch", "transcription", "webhook")
MOST = 2.0  # times what it takes at rest
# Below this a ratio says more about the machine's clock ticks than about the service.
LEAST_MS = {"request": 5.0, "fetch": 200.0, "transcription": 500.0, "webhook": 200.0}
JOURNEY_S = 300.0
SETTLE_S = 3.0
THERE, HERE = "127.0.0.2", "127.0.0.1"
SETTINGS = {
    "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
    "SEDERUNT_BROWSER__WARM": "0",
}
console = Console(stderr=True)

Times = Mapping[str, float]  # of each kind, in ms


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackRun:
    """What an attack has: the service, what is outside of it, and an account's client."""

    service: ServiceProcess
    outside: Outside
    client: httpx2.AsyncClient


Attack = Callable[[AttackRun], Awaitable[None]]  # returns, or goes on until it is cancelled


async def bench_neighbours(rows: Sequence[str], journeys: int) -> int:
    """Run the rows (all of them where none is named), print a table of ratios; 1 where one is above the limit."""
    if unknown := set(rows) - set(ATTACKS):
        raise SystemExit(f"There is no row {', '.join(sorted(unknown))}; there are: {', '.join(ATTACKS)}.")
    table = Table("Attack", *(f"{kind}: ms at rest, times that" for kind in KINDS), box=None)
    missed = False
    for name in rows or ATTACKS:
        console.print(f"{name} …")
        rest, beside = await _row(ATTACKS[name], journeys)
        ratios = {kind: max(beside[kind], LEAST_MS[kind]) / max(rest[kind], LEAST_MS[kind]) for kind in KINDS}
        missed |= any(ratio > MOST for ratio in ratios.values())
        table.add_row(name, *(f"{rest[kind]:.0f}, {ratios[kind]:.1f}" for kind in KINDS))
        print(json.dumps({"attack": name, "rest_ms": rest, "beside_ms": beside, "ratios": ratios}), flush=True)
    Console().print(table)
    return int(missed)


async def _row(attack: Attack, journeys: int) -> tuple[Times, Times]:
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as folder:
        data = Path(folder)
        async with service_process(data, "", settings=SETTINGS) as service, outside(tone(2.0)) as others:
            await run_command("accounts", "create", "neighbour", "--data", folder)
            key = (await run_command("keys", "create", "n", "--account", "neighbour", "--data", folder)).strip()
            async with _client(service, key, HERE) as neighbour, _client(service, service.key, THERE) as attacker:
                await _journey(neighbour, others)  # loads the model
                rest = await _medians(neighbour, others, journeys)
                stage = AttackRun(service=service, outside=others, client=attacker)
                async with _under(attack, stage):
                    beside = await _medians(neighbour, others, journeys)
    return rest, beside


def _client(service: ServiceProcess, key: str, address: str) -> httpx2.AsyncClient:
    """Return a client of an account that comes from an address of this machine."""
    return httpx2.AsyncClient(
        base_url=service.base_url,
        headers={"Authorization": f"Bearer {key}"},
        timeout=JOURNEY_S,
        transport=httpx2.AsyncHTTPTransport(local_address=address),
    )


@asynccontextmanager
async def _under(attack: Attack, stage: AttackRun) -> AsyncIterator[None]:
    """Have an attack going on: begun a while ago, and not over."""
    under_way = asyncio.create_task(_act(attack, stage))
    try:
        await asyncio.wait([under_way], timeout=SETTLE_S)
        yield
    finally:
        under_way.cancel()
        with suppress(asyncio.CancelledError):
            await under_way


async def _act(attack: Attack, stage: AttackRun) -> None:
    await attack(stage)


async def _medians(client: httpx2.AsyncClient, others: Outside, journeys: int) -> Times:
    times = [await _journey(client, others) for _ in range(journeys)]
    return {kind: round(statistics.median(found[kind] for found in times), 1) for kind in KINDS}


async def _journey(client: httpx2.AsyncClient, others: Outside) -> Times:
    """Ask twenty times; then have a recording fetched, transcribed and told of. Times in ms."""
    asked = []
    for _ in range(20):
        began = time.perf_counter()
        (await client.get("/recording", params={"limit": 1})).raise_for_status()
        asked.append(time.perf_counter() - began)
    mark = others.next_mark()
    body = {
        "transcription_model": "whisper",
        "recording_url": f"{others.url}/talk?{mark}",
        "webhook_url": f"{others.url}/hook",
    }
    posted = time.time()
    answer = await client.post("/recording", json=body)
    answer.raise_for_status()
    async with asyncio.timeout(JOURNEY_S):
        given = await others.given(mark)
        told = await others.told(answer.json()["id"], "finished")
    events = (await client.get(f"/recording/{answer.json()['id']}")).json()["events"]
    finished = next(
        datetime.fromisoformat(event["created_at"]).timestamp()
        for event in events
        if event["data"].get("new_status") == "finished"
    )
    return {
        "request": statistics.median(asked) * 1000,
        "fetch": (given - posted) * 1000,
        "transcription": (finished - given) * 1000,
        "webhook": (told - finished) * 1000,
    }


# --- the attacks ----------------------------------------------------------------------------------------------------


async def _upload(stage: AttackRun, data: bytes, name: str = "a.webm", **fields: str) -> httpx2.Response:
    return await stage.client.post(
        "/recording", data={"transcription_model": "whisper", **fields}, files={"recording_file": (name, data)}
    )


async def _years(stage: AttackRun) -> None:
    """Upload files of some hundred bytes whose last packet lies twenty years later."""
    data = lasting_years()
    await asyncio.gather(*(_upload(stage, data) for _ in range(10)))


async def _drips(stage: AttackRun) -> None:
    """Have many recordings fetched that come byte by byte."""
    for _ in range(100):
        asked = {"transcription_model": "whisper", "recording_url": f"{stage.outside.url}/drip"}
        await stage.client.post("/recording", json=asked)


async def _silent_receivers(stage: AttackRun) -> None:
    """Cause hundreds of webhooks to receivers that take them and never answer."""
    for number in range(400):
        asked = {
            "transcription_model": "whisper",
            "recording_url": f"{stage.outside.url}/nothing",
            "webhook_url": f"{stage.outside.silent_urls[number % len(stage.outside.silent_urls)]}/silent",
        }
        await stage.client.post("/recording", json=asked)


async def _bombs(stage: AttackRun) -> None:
    """Upload files of millions of tiny parts, one after another in each of four lines."""
    files = (elements(), boxes())

    async def line(first: int) -> None:
        for number in range(first, first + 1000):
            await _upload(stage, files[number % len(files)], ("a.webm", "a.mp4")[number % len(files)])

    await asyncio.gather(*(line(number) for number in range(4)))


async def _long_uploads(stage: AttackRun) -> None:
    """Have two hours of speech-like sound and two hundred short recordings transcribed."""
    long, short = tone(3600.0), tone(2.0)
    await asyncio.gather(*(_upload(stage, long, "a.wav") for _ in range(2)))
    for _ in range(200):
        await _upload(stage, short, "a.wav")


async def _requests(stage: AttackRun) -> None:
    """Ask for lists as fast as ten connections can, past every limit."""

    async def line() -> None:
        while True:
            await stage.client.get("/recording", params={"limit": 100})

    await asyncio.gather(*(line() for _ in range(10)))


async def _half_requests(stage: AttackRun) -> None:
    """Hold more connections with half a request than anybody may, and open new ones for those that are closed."""
    address = httpx2.URL(stage.service.base_url)
    lines: list[asyncio.StreamWriter] = []
    try:
        while True:
            _, writer = await asyncio.open_connection(address.host, address.port, local_addr=(THERE, 0))
            writer.write(b"GET /api/v1/bot HTTP/1.1\r\nHost: a\r\n")
            lines.append(writer)
            await asyncio.sleep(0 if len(lines) < 1200 else 0.02)
    finally:
        for writer in lines:
            writer.close()


async def _searches(stage: AttackRun) -> None:
    """Send bots with as much metadata as is taken, more than is taken, and search by a thousand filters."""
    metadata = {f"{number:03}" + "k" * 190: "v" * 500 for number in range(count_of("metadata_keys"))}
    bot = {
        "service": "gmeet",
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Minutes",
        "transcription_model": "none",
        "scheduled_start_time": int(time.time()) + 86_400,
        "custom_metadata": metadata,
    }
    filters = {f"custom_metadata[{number}]": "x" for number in range(1000)}

    async def line() -> None:
        while True:
            await stage.client.post("/bot", json=bot)
            await stage.client.post("/bot", json={**bot, "custom_metadata": {**metadata, "x" * 100_000: "y"}})
            await stage.client.get("/bot", params=filters)

    await asyncio.gather(*(line() for _ in range(4)))


ATTACKS: Mapping[str, Attack] = {
    "files that last twenty years": _years,
    "100 recordings that drip": _drips,
    "400 webhooks to silent receivers": _silent_receivers,
    "files of millions of parts": _bombs,
    "two hours and 200 short recordings": _long_uploads,
    "requests without end": _requests,
    "1,200 half requests": _half_requests,
    "metadata and filters": _searches,
}
