"""`sederunt bench neighbours`: what one account's attacks cost another account, as ratios to the same service at rest.

Each row has a service of its own, on SQLite, and where an address is given a second one on PostgreSQL. At rest, and
then beside the attack, another account reads and writes some hundred times (the figure is what 95 of 100 requests do
not exceed), asks for its recordings and has one fetched, transcribed and told of (medians). Attack and neighbour come
from two addresses of this machine, and from two processes. A ratio is of one run and one machine; where a machine has
other work, repeat it.
"""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import httpx2
from rich.console import Console
from rich.table import Table
from sqlalchemy.engine import make_url

from sederunt.bench.attacks import ATTACKS, AttackTarget, booked_bot
from sederunt.bench.caller import percentile
from sederunt.bench.hostile_files import tone
from sederunt.bench.outside_servers import Outside, outside
from sederunt.bench.processes import ServiceProcess, child, run_command, said, service_process

JOURNEY_KINDS = ("request", "fetch", "transcription", "webhook")
KINDS = ("read", "write", *JOURNEY_KINDS)
REQUESTS = 300  # of each of `read` and `write`
MOST = 2.0  # times what it takes at rest
# Below this a ratio says more about the machine's clock ticks than about the service.
LEAST_MS = {"read": 5.0, "write": 10.0, "request": 5.0, "fetch": 200.0, "transcription": 500.0, "webhook": 200.0}
JOURNEY_S = 300.0
# Between two journeys. Who sends recordings without a pause wants all cores, and has its share of them beside others.
PAUSE_S = 10.0
SETTLE_S = 3.0
SETTINGS = {
    "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
    "SEDERUNT_BROWSER__WARM": "0",
}
SQLITE = "SQLite"
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


async def bench_neighbours(rows: Sequence[str], journeys: int, postgres: str) -> int:
    """Run the rows (all of them where none is named), print a table of ratios; 1 where one is above the limit.

    Where PostgreSQL is measured as well, its figures decide about reads and writes: SQLite has one writer for all
    accounts.

    A journey that does not come to its end within five minutes counts as one of so long; a row without figures counts
    as one above the limit.
    """
    if unknown := set(rows) - set(ATTACKS):
        raise SystemExit(f"There is no row {', '.join(sorted(unknown))}; there are: {', '.join(ATTACKS)}.")
    table = Table("Attack", "", *(f"{kind}: ms at rest, times that" for kind in KINDS), "load", box=None)
    missed = False
    for name in rows or ATTACKS:
        for engine, database in _databases(postgres):
            console.print(f"{name} ({engine}) …")
            try:
                with database as address:
                    figures = await _row(name, journeys, address)
            except SystemExit as error:  # its service or its attack did not begin: the others have their figures
                console.print(f"  no figure: {error}")
                table.add_row(name, engine, *("–" for _ in KINDS), f"{os.getloadavg()[0]:.1f}")
                missed = True
                continue
            ratios = {kind: round(figures.ratio(kind), 2) for kind in KINDS}
            deciding = JOURNEY_KINDS if postgres and engine == SQLITE else KINDS
            missed |= any(ratios[kind] > MOST for kind in deciding)
            cells = (f"{figures.rest_ms[kind]:.0f}, {ratios[kind]:.1f}" for kind in KINDS)
            table.add_row(name, engine, *cells, f"{figures.load:.1f}")
            print(json.dumps({"attack": name, "database": engine, **asdict(figures), "ratios": ratios}), flush=True)
    Console().print(table)
    return int(missed)


def _databases(postgres: str) -> Iterator[tuple[str, AbstractContextManager[str]]]:
    """Yield the engines to measure, each with what provides a database's address; an empty one stands for SQLite."""
    yield SQLITE, nullcontext("")
    if postgres:
        yield "PostgreSQL", _fresh_database(postgres)


@contextmanager
def _fresh_database(server: str) -> Iterator[str]:
    """Provide the address of an empty database at a PostgreSQL server. SystemExit where none can be made."""
    name = f"sederunt_bench_{uuid4().hex[:12]}"
    _run_tool("createdb", f"--maintenance-db={server}", "--template=template0", name)
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        _run_tool("dropdb", f"--maintenance-db={server}", "--force", name)


def _run_tool(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is missing: install PostgreSQL's client programs") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{command[0]}: {error.stderr.strip()}") from None


async def _row(attack: str, journeys: int, database: str) -> RowFigures:
    settings = {**SETTINGS, **({"SEDERUNT_DATABASE__URL": database} if database else {})}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        async with service_process(data, "", settings=settings) as service, outside(tone(2.0)) as others:
            await run_command("accounts", "create", "neighbour", "--data", folder, settings=settings)
            # Two keys: each may ask some twelve hundred times a minute.
            making = ("keys", "create", "n", "--account", "neighbour", "--data", folder)
            keys = [(await run_command(*making, settings=settings)).strip() for _ in range(2)]
            at_rest, beside = (
                httpx2.AsyncClient(
                    base_url=service.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=JOURNEY_S
                )
                for key in keys
            )
            async with at_rest, beside:
                await _journey(at_rest, others)  # loads the model
                rest_ms = await _times(at_rest, others, journeys)
                answers: dict[str, int] = {}
                async with _under(attack, service, others, answers):
                    beside_ms = await _times(beside, others, journeys)
    return RowFigures(rest_ms=rest_ms, beside_ms=beside_ms, answers=answers, load=os.getloadavg()[0])


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


async def _times(client: httpx2.AsyncClient, others: Outside, journeys: int) -> Times:
    return {**await _requests(client), **await _medians(client, others, journeys)}


async def _requests(client: httpx2.AsyncClient) -> Times:
    """Read and write by turns. A request that is refused, or not answered, took as long as anybody waits."""
    times: dict[str, list[float]] = {"read": [], "write": []}
    for _ in range(REQUESTS):
        for kind, method, path, body in (
            ("read", "GET", "/bot?limit=1", None),
            ("write", "POST", "/bot", booked_bot()),
        ):
            began = time.perf_counter()
            try:
                (await client.request(method, path, json=body)).raise_for_status()
                times[kind].append((time.perf_counter() - began) * 1000)
            except httpx2.HTTPError as error:
                console.print(f"  no {kind}: {type(error).__name__} {error}")
                times[kind].append(JOURNEY_S * 1000)
    return {kind: round(percentile(found, 95), 1) for kind, found in times.items()}


async def _medians(client: httpx2.AsyncClient, others: Outside, journeys: int) -> Times:
    times = []
    for _ in range(journeys):
        times.append(await _journey_within_limit(client, others))
        await asyncio.sleep(PAUSE_S)
    return {kind: round(statistics.median(found[kind] for found in times), 1) for kind in JOURNEY_KINDS}


async def _journey_within_limit(client: httpx2.AsyncClient, others: Outside) -> Times:
    """Make a journey; one that does not come to its end, or is refused on its way, took as long as anybody waits."""
    try:
        async with asyncio.timeout(JOURNEY_S):
            return await _journey(client, others)
    except (TimeoutError, httpx2.HTTPError) as error:
        console.print(f"  no end of a journey: {type(error).__name__} {error}")
        return dict.fromkeys(JOURNEY_KINDS, JOURNEY_S * 1000)


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
