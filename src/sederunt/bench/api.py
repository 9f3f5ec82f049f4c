"""`sederunt bench api`: what the api process costs, alone with its NATS, a SQLite file and a folder.

GET of one bot in requests per CPU-second; booking many bots ahead and listing them; an upload of the largest size, with
what it adds to memory and to the answers that others wait for meanwhile. Only the api's own CPU and memory count.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from sederunt.accounts.keys import Keys
from sederunt.accounts.lost_key import open_sealer
from sederunt.bench.caller import ApiClient, percentile
from sederunt.bench.meter import cpu_s_of, resident_mb_of
from sederunt.bench.processes import child, said
from sederunt.bus import embedded
from sederunt.database.bots import Bots
from sederunt.database.engine import Database, database_url
from sederunt.database.transcripts import Transcripts
from sederunt.model.participant import Participant
from sederunt.model.status import Trigger
from sederunt.model.transcript import Segment, Transcript, Utterance, Word
from sederunt.settings import load

FLOOR = 2000  # GETs of one bot per CPU-second, for a bot that has just been booked
MOST_GROWTH_MB = 100  # of resident memory, by an upload of a gigabyte
MOST_SLOWER = 2.0  # times: the median GET during an upload beside the median GET before it
PACE_S = 0.05  # between two GETs, before and during the upload alike
IDLE_S = 4.0
CONNECTIONS = 16
WARM_UP = 320
LARGE_ANSWERS = 40
_TO_THE_END = (Trigger.DUE, Trigger.LAUNCHED, Trigger.ADMITTED, Trigger.ENDED, Trigger.LEFT, Trigger.CLOSED)
_HOUR_SEGMENTS = 400  # of 25 words each: ten thousand words an hour


@dataclass(frozen=True, slots=True)
class Api:
    """The measured process."""

    caller: ApiClient
    pid: int
    data: Path
    nats_pid: int

    def cpu_s(self) -> float:
        return cpu_s_of(self.pid)

    def resident_mb(self) -> float:
        return resident_mb_of(self.pid)


async def bench_api(requests: int, scheduled: int, upload_mb: int) -> int:
    """Print every measurement; 1 where a limit is missed."""
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as folder:
        async with api_alone(Path(folder)) as api:
            booked = await _book(api)
            reached = await _measure_gets(api, "just booked", booked, requests)
            sat = await _book(api)
            await _fill(api.data, UUID(sat), hours=1)
            await _measure_gets(api, "an hour's meeting", sat, requests // 4)
            await _measure_gets(api, "an hour's meeting, compressed", sat, requests // 4, takes="gzip")
            held = await api.caller.tag(f"/bot/{sat}")
            await _measure_gets(api, "an hour's meeting that the caller has", sat, requests, held=held)
            await _beside_large_answers(api, booked)
            good = [reached >= FLOOR]
            if scheduled:
                before, started = api.cpu_s(), time.monotonic()
                load = await api.caller.load(
                    api.caller.request("POST", "/bot", _scheduled_bot()), scheduled, CONNECTIONS
                )
                print(
                    f"POST scheduled bots: {load.requests:,} in {time.monotonic() - started:.1f} s, "
                    f"{load.requests / (api.cpu_s() - before):,.0f} per CPU-second; "
                    f"p50 {percentile(load.times_ms, 50):.1f} ms, p99 {percentile(load.times_ms, 99):.1f} ms"
                )
                for path in ("/bot/scheduled", "/bot?limit=50"):
                    one = await api.caller.load(api.caller.request("GET", path), 5, 1)
                    print(f"GET {path}: {percentile(one.times_ms, 50):.0f} ms, {one.answer_bytes / 1e6:,.2f} MB")
            if upload_mb:
                good.append(await _upload(api, upload_mb))
    return 0 if all(good) else 1


@asynccontextmanager
async def api_alone(data: Path) -> AsyncIterator[Api]:
    """Run nats-server and the api role as children, with a key, and without the limit of requests."""
    settings = load(data=data)
    async with Database(database_url(settings)) as database:
        keys = await Keys.open(database, await open_sealer(database, settings))
        key, _ = await keys.create(database.default_account_id, "bench")
        await keys.close()
    server = embedded.prepare(data)
    with (data / "nats.log").open("wb") as log:
        nats = await asyncio.create_subprocess_exec(*server.command, stdout=log, stderr=log)
    try:
        os.environ["SEDERUNT_API__REQUESTS_PER_MINUTE"] = "0"
        async with child("sederunt.cli.main", "api", "--data", str(data), "--port", "0", quiet=True) as process:
            port = int((await said(process))["port"])
            yield Api(ApiClient("127.0.0.1", port, key), process.pid, data, nats.pid)
            process.terminate()
    finally:
        nats.terminate()
        await nats.wait()


async def _measure_gets(
    api: Api, name: str, bot_id: str, requests: int, *, held: str | None = None, takes: str | None = None
) -> float:
    request = api.caller.request("GET", f"/bot/{bot_id}", held=held, takes=takes)
    await api.caller.load(request, WARM_UP, CONNECTIONS)
    before = api.cpu_s()
    load = await api.caller.load(request, requests, CONNECTIONS)
    per_cpu_s = load.requests / (api.cpu_s() - before)
    print(
        f"GET one bot, {name}: {per_cpu_s:,.0f} requests per CPU-second of {load.answer_bytes / 1024:,.1f} KiB; "
        f"p50 {percentile(load.times_ms, 50):.1f} ms, p99 {percentile(load.times_ms, 99):.1f} ms "
        f"on {CONNECTIONS} connections; {api.resident_mb():.0f} MB resident"
    )
    return per_cpu_s


async def _beside_large_answers(api: Api, booked: str) -> None:
    """Measure GETs of a small bot with nothing else to do, and while somebody reads four hours over and over."""
    long = await _book(api)
    await _fill(api.data, UUID(long), hours=4)
    small, large = (api.caller.request("GET", f"/bot/{bot_id}") for bot_id in (booked, long))
    started = time.monotonic()
    idle, _ = await _paced(api, small, lambda: time.monotonic() - started > IDLE_S)
    before = api.cpu_s()
    reading = asyncio.create_task(api.caller.load(large, LARGE_ANSWERS, 1))
    busy, _ = await _paced(api, small, reading.done)
    read = await reading
    print(
        f"GET one bot beside one of four hours: {_spread(busy)}, without {_spread(idle)}; four hours: "
        f"{read.answer_bytes / 1e6:.1f} MB, p50 {percentile(read.times_ms, 50):.0f} ms, "
        f"{1000 * (api.cpu_s() - before) / LARGE_ANSWERS:.0f} ms of CPU each, the others' included"
    )


async def _upload(api: Api, megabytes: int) -> bool:
    """Measure one upload while others ask for a bot twenty times a second; beside it the same pace with nothing else to
    do.
    """
    request = api.caller.request("GET", f"/bot/{await _book(api)}")
    started = time.monotonic()
    idle, resident = await _paced(api, request, lambda: time.monotonic() - started > IDLE_S)
    before, started = api.cpu_s(), time.monotonic()
    upload = asyncio.create_task(asyncio.to_thread(api.caller.upload_silence, megabytes * 1_000_000))
    busy, peak = await _paced(api, request, upload.done)
    await upload
    slower = percentile(busy, 50) / percentile(idle, 50)
    print(
        f"upload of {megabytes:,} MB: {time.monotonic() - started:.1f} s, {api.cpu_s() - before:.1f} CPU-seconds, "
        f"{peak - resident:+.0f} MB resident; GET meanwhile {_spread(busy)}, without it {_spread(idle)}: "
        f"{slower:.2f} times the median"
    )
    return peak - resident <= MOST_GROWTH_MB and slower <= MOST_SLOWER


async def _paced(api: Api, request: bytes, is_over: Callable[[], bool]) -> tuple[list[float], float]:
    """Send one GET after another, each on a new connection; returns (their ms, the most MB resident meanwhile)."""
    times_ms, peak = list[float](), 0.0
    while not is_over() or not times_ms:
        times_ms += (await api.caller.load(request, 1, 1)).times_ms
        peak = max(peak, api.resident_mb())
        await asyncio.sleep(PACE_S)
    return times_ms, peak


def _spread(times_ms: Sequence[float]) -> str:
    return f"p50 {percentile(times_ms, 50):.1f} ms, p95 {percentile(times_ms, 95):.1f} ms"


async def _book(api: Api) -> str:
    answer = await api.caller.ask(api.caller.request("POST", "/bot", _scheduled_bot()))
    return str(answer["id"])


def _scheduled_bot() -> dict[str, object]:
    return {
        "service": "gmeet",
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Bench",
        "transcription_model": "whisper",
        "scheduled_start_time": int((datetime.now(UTC) + timedelta(days=1)).timestamp()),
        "custom_metadata": {"team": "sales", "room": "7"},
    }


async def _fill(data: Path, bot_id: UUID, *, hours: int) -> None:
    """Give the bot what hours with five people leave behind, and end it."""
    now = datetime.now(UTC)
    people = [Participant(key=f"p{n}", name=f"Person {n}", avatar=None, first_seen_at=now) for n in range(5)]
    async with Database(database_url(load(data=data))) as database:
        bots = Bots(database)
        await bots.save_participants(bot_id, people)
        segments = tuple(map(_segment, range(hours * _HOUR_SEGMENTS)))
        await Transcripts(database).save(bot_id, Transcript(segments=segments))
        for trigger in _TO_THE_END:
            await bots.record_transition(bot_id, trigger)


def _segment(number: int) -> Segment:
    start = number * 9.0
    words = tuple(
        Word(word="minutes", start=start + n / 3, end=start + n / 3 + 0.3, confidence=0.93) for n in range(25)
    )
    text = " ".join(word.word for word in words)
    said_ = Utterance(start=start, end=start + 8.4, speaker=0, confidence=0.93, transcript=text, words=words)
    return Segment(
        start=start, end=start + 8.4, speaker=0, confidence=0.93, transcript=text, utterances=(said_,),
        speaker_name=f"Person {number % 5}",
    )  # fmt: skip
