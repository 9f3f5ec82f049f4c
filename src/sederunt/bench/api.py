"""`sederunt bench api`: requests per CPU-second of the api process, for GET of one bot, with its log and its checks.

The load comes over 16 kept connections from this process; only the api's own CPU is counted. Two bots are asked for:
one that has just been booked, and one that sat in a meeting of an hour.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import psutil

from sederunt.bench.meter import pss_of
from sederunt.bench.served import served
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.transcripts import Transcripts
from sederunt.model.participant import Participant
from sederunt.model.transcript import Segment, Transcript, Utterance, Word

FLOOR = 2000  # requests per CPU-second, for the bot that has just been booked
CONNECTIONS = 16
WARM_UP = 300
_HOUR_SEGMENTS = 400  # of 25 words each: ten thousand words an hour


@dataclass(frozen=True, slots=True)
class Measured:
    """One case."""

    name: str
    answer_kib: float
    per_cpu_second: float
    ms: float  # wall clock per request and connection


async def bench_api(requests: int) -> int:
    """Print both cases; 1 where the floor is not reached."""
    settings = {"SEDERUNT_API__REQUESTS_PER_MINUTE": "0"}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as folder:
        data = Path(folder)
        async with served(data, "MAP * ~NOTFOUND", settings) as client:
            pid = int((data / "run" / "api.pid").read_text())
            booked = await _book(client)
            results = [await _measure("just booked", client, booked, pid, requests)]
            sat = await _book(client)
            await _fill(data, UUID(sat))
            results.append(await _measure("an hour's meeting", client, sat, pid, requests))
            memory_mib = pss_of(pid) / 1024
    for result in results:
        print(
            f"GET /bot/{{id}}, {result.name}: {result.per_cpu_second:,.0f} requests per CPU-second, "
            f"{result.answer_kib:,.1f} KiB each, {result.ms:.1f} ms on {CONNECTIONS} connections"
        )
    print(f"memory of the api process: {memory_mib:.0f} MiB")
    return 1 if results[0].per_cpu_second < FLOOR else 0


async def _book(client: httpx.AsyncClient) -> str:
    body = {
        "service": "gmeet",
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Bench",
        "transcription_model": "whisper",
        "scheduled_start_time": int((datetime.now(UTC) + timedelta(days=1)).timestamp()),
        "custom_metadata": {"team": "sales", "room": "7"},
    }
    answer = await client.post("/bot", json=body)
    answer.raise_for_status()
    return str(answer.json()["id"])


async def _fill(data: Path, bot_id: UUID) -> None:
    """Give the bot what an hour with five people leaves behind."""
    now = datetime.now(UTC)
    people = [Participant(key=f"p{n}", name=f"Person {n}", avatar=None, first_seen_at=now) for n in range(5)]
    async with Database(f"sqlite+aiosqlite:///{data / 'sederunt.db'}") as database:
        await Bots(database).save_participants(bot_id, people)
        await Transcripts(database).save(bot_id, Transcript(segments=tuple(map(_segment, range(_HOUR_SEGMENTS)))))


def _segment(number: int) -> Segment:
    start = number * 9.0
    words = tuple(
        Word(word="minutes", start=start + n / 3, end=start + n / 3 + 0.3, confidence=0.93) for n in range(25)
    )
    text = " ".join(word.word for word in words)
    said = Utterance(start=start, end=start + 8.4, speaker=0, confidence=0.93, transcript=text, words=words)
    return Segment(
        start=start, end=start + 8.4, speaker=0, confidence=0.93, transcript=text, utterances=(said,),
        speaker_name=f"Person {number % 5}",
    )  # fmt: skip


async def _measure(name: str, client: httpx.AsyncClient, bot_id: str, pid: int, requests: int) -> Measured:
    await _load(client, bot_id, WARM_UP)
    before = _cpu_s(pid)
    loop = asyncio.get_running_loop()
    started = loop.time()
    answer_bytes = await _load(client, bot_id, requests)
    wall_s = loop.time() - started
    return Measured(
        name=name,
        answer_kib=answer_bytes / 1024,
        per_cpu_second=requests / (_cpu_s(pid) - before),
        ms=wall_s * 1000 * CONNECTIONS / requests,
    )


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


async def _load(client: httpx.AsyncClient, bot_id: str, requests: int) -> int:
    """Ask so many times over all connections; the size of one answer. Any status but 200 ends it."""
    address = urlsplit(str(client.base_url))
    request = _request(address.netloc, f"{address.path.rstrip('/')}/bot/{bot_id}", client.headers)
    share = requests // CONNECTIONS
    sizes = await asyncio.gather(
        *(_ask(address.hostname or "", address.port or 80, request, share) for _ in range(CONNECTIONS))
    )
    return sizes[0]


def _request(host: str, path: str, headers: Mapping[str, str]) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {headers['authorization']}\r\n"
        "Accept: application/json\r\n\r\n"
    ).encode()


async def _ask(host: str, port: int, request: bytes, times: int) -> int:
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 24)
    size = 0
    try:
        for _ in range(times):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200 "):
                raise SystemExit(f"the api answered {head.splitlines()[0].decode()}")
            size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(size)
    finally:
        writer.close()
        await writer.wait_closed()
    return size
