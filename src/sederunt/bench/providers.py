"""`sederunt bench providers`: what a cloud vendor costs this machine, live and for a long file.

Live: two services, each with one bot in the same meeting in the same window, one of them transcribed live by the vendor
and the other recording only. What the vendor adds is the difference of their CPU-seconds; other load falls on both.
A file: the most memory that the worker holds while a long recording is submitted, polled and fetched; by itself, and
with the processes that read callers' media for it. The vendor's key and address are read from the environment, as the
service reads them.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import psutil
from rich.console import Console

from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import ServiceProcess, practice_process, service_process
from sederunt.bench.speakers import KINDS, talk
from sederunt.browser.costs import pss_of
from sederunt.practice import clips
from sederunt.practice.client import MeetingHandle

MOST_LIVE_PERCENT, MOST_WORKER_MIB = 1.5, 143.0  # 150 MB
SETTLE_S, SAMPLE_S = 10.0, 0.5
SEATED_S, TRANSCRIBED_S = 120.0, 3600.0
PEOPLE = 3
RATE = 16_000

console = Console(stderr=True)


@dataclass(frozen=True, kw_only=True)
class Served:
    """A service under measurement, and a client with its key."""

    process: ServiceProcess
    client: httpx2.AsyncClient


async def bench_providers(live_model: str, batch_model: str, seconds: float, hours: float) -> int:
    """Measure both; JSON lines on standard output. Returns 1 where a target is missed; an empty model leaves its
    part out.
    """
    missed = False
    if live_model:
        percent = await live_percent(live_model, seconds)
        print(json.dumps({"live": live_model, "percent_of_a_core_more": round(percent, 2)}), flush=True)
        missed |= percent > MOST_LIVE_PERCENT
        console.print(f"{live_model}: {percent:.2f} % of a core above a bot that only records ({MOST_LIVE_PERCENT} %)")
    if batch_model:
        peak, together = await worker_peak_mib(batch_model, hours)
        figures = {"worker_peak_mib": round(peak, 1), "with_its_readers_mib": round(together, 1)}
        print(json.dumps({"batch": batch_model, "hours": hours, **figures}), flush=True)
        missed |= peak > MOST_WORKER_MIB
        console.print(
            f"{batch_model}: the worker held {peak:.0f} MiB at most for {hours:g} h ({MOST_WORKER_MIB:g} MiB)"
        )
    return int(missed)


async def live_percent(model: str, seconds: float) -> float:
    """Return percent of a core that a live bot takes above one that only records."""
    async with AsyncExitStack() as stack:
        practice = await stack.enter_async_context(practice_process())
        rules = await practice.host_rules()
        meeting = await practice.open_meeting(talk(KINDS[0], PEOPLE))
        services = [await stack.enter_async_context(_served(rules)) for _ in range(2)]
        for service, chosen in zip(services, ("none", model), strict=True):
            await _seated(service.client, meeting, chosen)
        await asyncio.sleep(SETTLE_S)
        meters = [TreeMeter([service.process.pid]) for service in services]
        for _ in range(max(2, round(seconds))):
            for meter in meters:
                meter.sample()
            await asyncio.sleep(1)
        recording, live = (meter.cpu_percent for meter in meters)
        print(json.dumps({"recording_percent": round(recording, 2), "live_percent": round(live, 2)}), flush=True)
        await meeting.close()
        return live - recording


async def worker_peak_mib(model: str, hours: float) -> tuple[float, float]:
    """Return the most that the worker held while a recording of so many hours was transcribed, and the most that it
    held together with the processes that read callers' media for it.
    """
    async with _served("") as service:
        with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as folder:
            path = Path(folder) / "long.wav"
            write_long(path, hours)
            with path.open("rb") as file:
                answer = await service.client.post(
                    "/recording",
                    data={"transcription_model": model, "lang": "en"},
                    files={"recording_file": ("long.wav", file)},
                    timeout=600,
                )
        answer.raise_for_status()
        workers = workers_of(service.process.pid)
        meter, alone_kib = TreeMeter(workers), 0
        ended = asyncio.create_task(_recording_ended(service.client, answer.json()["id"]))
        while not ended.done():
            meter.sample()
            alone_kib = max(alone_kib, sum(map(pss_of, workers)))
            await asyncio.sleep(SAMPLE_S)
        recording = await ended
        if recording["status"] != "finished":
            raise SystemExit(
                f"{model}: the recording ended as {recording['status']}, {recording['events'][-1]['data']}"
            )
        return alone_kib / 1024, meter.peak_pss_mib


def write_long(path: Path, hours: float) -> None:
    """Write speech over and over, with a second between, as 16 kHz mono."""
    pause = np.zeros(RATE, "<i2")
    total = round(hours * 3600 * RATE)
    loop = pause[:0]
    for name in clips.catalogue():
        loop = np.concatenate((loop, _at_16_khz(name), pause))
        if len(loop) >= total:
            break
    with path.open("wb") as file:
        size = total * 2
        file.write(b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little"))
        file.write(b"\1\0\1\0" + RATE.to_bytes(4, "little") + (RATE * 2).to_bytes(4, "little") + b"\2\0\x10\0")
        file.write(b"data" + size.to_bytes(4, "little"))
        written = 0
        while written < total:
            part = loop[: total - written]
            file.write(part.tobytes())
            written += len(part)


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a service."""
    children = psutil.Process(pid).children(recursive=True)
    return [child.pid for child in children if "worker" in child.cmdline()]


def _at_16_khz(name: str) -> Any:
    """Return a clip's samples, every third of those at 48 kHz: good enough for weight."""
    return (np.asarray(clips.load(name).samples).reshape(-1)[::3]).astype("<i2")


@asynccontextmanager
async def _served(host_rules: str) -> AsyncIterator[Served]:
    passed = ("SEDERUNT_PROVIDERS__", "SEDERUNT_CAPTURE__")
    given = {name: value for name, value in os.environ.items() if name.startswith(passed)}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-", ignore_cleanup_errors=True) as data:
        async with (
            service_process(Path(data), host_rules, settings={**given, "SEDERUNT_HOST__MAX_LOAD": "9"}) as process,
            httpx2.AsyncClient(base_url=process.base_url, headers=process.headers, timeout=30) as client,
        ):
            yield Served(process=process, client=client)


async def _seated(client: httpx2.AsyncClient, meeting: MeetingHandle, model: str) -> None:
    """Send a bot and wait until it records."""
    wanted = {"service": "gmeet", "meeting_url": meeting.url, "bot_name": f"Bench {model}", "lang": "en"}
    answer = await client.post("/bot", json={**wanted, "transcription_model": model})
    answer.raise_for_status()
    async with asyncio.timeout(SEATED_S):
        while True:
            bot = (await client.get(f"/bot/{answer.json()['id']}")).json()
            if bot["status"] == "recording":
                return
            if bot["finished_at"]:
                raise SystemExit(f"{model}: the bot ended as {bot['status']}, {bot['events'][-1]['data']}")
            await asyncio.sleep(0.5)


async def _recording_ended(client: httpx2.AsyncClient, recording_id: str) -> dict[str, Any]:
    async with asyncio.timeout(TRANSCRIBED_S):
        while True:
            recording: dict[str, Any] = (await client.get(f"/recording/{recording_id}")).json()
            if recording["status"] != "transcribing":
                return recording
            await asyncio.sleep(1)
