"""`sederunt bench neighbours`: what one account's attacks cost another account, as ratios to the same service at rest.

Each row has a service of its own. At rest, and then beside the attack, another account asks for its recordings and has
one fetched, transcribed and told of; the figures are medians. Attack and neighbour come from two addresses of this
machine, and from two processes. A ratio is of one run and one machine; where a machine has other work, repeat it.
"""

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import httpx2
from rich.console import Console
from rich.table import Table

from sederunt.bench.attacks import ATTACKS, AttackTarget
from sederunt.bench.hostile_files import tone
from sederunt.bench.outside_servers import Outside, outside
from sederunt.bench.processes import ServiceProcess, child, run_command, said, service_process

KINDS = ("request", "fetch", "transcription", "webhook")
MOST = 2.0  # times what it takes at rest
# Below this a ratio says more about the machine's clock ticks than about the service.
LEAST_MS = {"request": 5.0, "fetch": 200.0, "transcription": 500.0, "webhook": 200.0}
JOURNEY_S = 300.0
# Between two journeys. Who sends recordings without a pause wants all cores, and has its share of them beside others.
PAUSE_S = 10.0
SETTLE_S = 3.0
SETTINGS = {
    "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
    "SEDERUNT_BROWSER__WARM": "0",
}
console = Console(stderr=True)

Times = Mapping[str, float]  # of each kind, in ms


@dataclass(frozen=True, kw_only=True, slots=True)
class RowFigures:
    """What one attack cost the other account, and what the machine had to do beside."""

    rest_ms: Times
    beside_ms: Times
    answers: Mapping[str, int]  # to the attack, by status; `cut` where there was none
    load: float  # mean over the last minute, at the end

    def ratio(self, kind: str) -> float:
        """Return how many times as long it took beside the attack."""
        return max(self.beside_ms[kind], LEAST_MS[kind]) / max(self.rest_ms[kind], LEAST_MS[kind])


async def bench_neighbours(rows: Sequence[str], journeys: int) -> int:
    """Run the rows (all of them where none is named), print a table of ratios; 1 where one is above the limit.

    A journey that does not come to its end within five minutes counts as one of so long; a row without figures counts
    as one above the limit.
    """
    if unknown := set(rows) - set(ATTACKS):
        raise SystemExit(f"There is no row {', '.join(sorted(unknown))}; there are: {', '.join(ATTACKS)}.")
    table = Table("Attack", *(f"{kind}: ms at rest, times that" for kind in KINDS), "load", box=None)
    missed = False
    for name in rows or ATTACKS:
        console.print(f"{name} …")
        try:
            found = await _row(name, journeys)
        except SystemExit as error:  # its service or its attack did not begin: the others have their figures
            console.print(f"  no figure: {error}")
            table.add_row(name, *("–" for _ in KINDS), f"{os.getloadavg()[0]:.1f}")
            missed = True
            continue
        ratios = {kind: round(found.ratio(kind), 2) for kind in KINDS}
        missed |= any(ratio > MOST for ratio in ratios.values())
        cells = (f"{found.rest_ms[kind]:.0f}, {ratios[kind]:.1f}" for kind in KINDS)
        table.add_row(name, *cells, f"{found.load:.1f}")
        print(json.dumps({"attack": name, **asdict(found), "ratios": ratios}), flush=True)
    Console().print(table)
    return int(missed)


async def _row(attack: str, journeys: int) -> RowFigures:
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        async with service_process(data, "", settings=SETTINGS) as service, outside(tone(2.0)) as others:
            await run_command("accounts", "create", "neighbour", "--data", folder)
            key = (await run_command("keys", "create", "n", "--account", "neighbour", "--data", folder)).strip()
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(base_url=service.base_url, headers=headers, timeout=JOURNEY_S) as neighbour:
                await _journey(neighbour, others)  # loads the model
                rest = await _medians(neighbour, others, journeys)
                answers: dict[str, int] = {}
                async with _under(attack, service, others, answers):
                    beside = await _medians(neighbour, others, journeys)
    return RowFigures(rest_ms=rest, beside_ms=beside, answers=answers, load=os.getloadavg()[0])


@asynccontextmanager
async def _under(attack: str, service: ServiceProcess, others: Outside, answers: dict[str, int]) -> AsyncIterator[None]:
    """Have an attack going on: begun a while ago, and not over. How it was answered is added at the end."""
    target = AttackTarget(
        base_url=service.base_url, key=service.key, outside_url=others.url, silent_urls=tuple(others.silent_urls)
    )
    async with child("sederunt.bench.attacks") as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"attack": attack, "target": asdict(target)}).encode() + b"\n")
        await asyncio.sleep(SETTLE_S)
        yield
        process.stdin.close()
        answers |= await said(process)


async def _medians(client: httpx2.AsyncClient, others: Outside, journeys: int) -> Times:
    times = []
    for _ in range(journeys):
        times.append(await _journey_within_limit(client, others))
        await asyncio.sleep(PAUSE_S)
    return {kind: round(statistics.median(found[kind] for found in times), 1) for kind in KINDS}


async def _journey_within_limit(client: httpx2.AsyncClient, others: Outside) -> Times:
    """Make a journey; one that does not come to its end, or is refused on its way, took as long as anybody waits."""
    try:
        async with asyncio.timeout(JOURNEY_S):
            return await _journey(client, others)
    except (TimeoutError, httpx2.HTTPError) as error:
        console.print(f"  no end of a journey: {type(error).__name__} {error}")
        return dict.fromkeys(KINDS, JOURNEY_S * 1000)


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
