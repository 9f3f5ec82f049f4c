"""`sederunt bench idle`: what a service holds that nobody uses, with a warm browser and once browsers and worker have
ended; and what the first bot and the first upload wait for them."""

import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import httpx2
import psutil
from rich.console import Console
from rich.table import Table

from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import practice_process, service_process
from sederunt.bench.start import one_start
from sederunt.browser.costs import family_of, pss_of
from sederunt.practice.clips import catalogue

LIMIT_MIB = 264e6 / 2**20  # 250 MB, and 7 MB for the mapper of SQLAlchemy in each of two processes
SETTLE_S = 15.0  # a self-test, a heartbeat and what starts beside them are over
REST_S = 90.0  # within which browsers and worker have ended
UPLOAD = "superlative"
ROLES = ("serve", "api", "host", "worker")
# Row → words of a command line, of which the first that is found counts.
PARTS = {
    **{role: (f"sederunt.cli.main {role}", f"/sederunt {role}") for role in ROLES},
    "nats-server": ("nats-server",),
    "browser": ("chrom",),
    "display": ("Xvfb",),
    "driver": ("playwright/driver",),
}


async def bench_idle(seconds: float) -> int:
    """Print MiB by process, and CPU over `seconds`; 1 where a service at rest holds more than the limit."""
    settings = {"SEDERUNT_BROWSER__IDLE_MINUTES": "0.5", "SEDERUNT_WORKER__IDLE_MINUTES": "0.5"}
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as data:
        async with (
            practice_process() as practice,
            service_process(Path(data), await practice.host_rules(), settings=settings) as service,
        ):
            await asyncio.sleep(SETTLE_S)
            warm = held_by(service.pid)
            await _rests(service.pid)
            cold = held_by(service.pid)
            meter = TreeMeter([service.pid])
            meter.sample()
            await asyncio.sleep(seconds)
            meter.sample()
            percent = meter.cpu_percent
            async with httpx2.AsyncClient(base_url=service.base_url, headers=service.headers, timeout=30) as client:
                first_s = await one_start(client, practice)
                second_s = await one_start(client, practice)
                await _rests(service.pid)
                after_bots = held_by(service.pid)
                read_s = [await _one_upload(client) for _ in range(2)]
            _show({"warm browser": warm, "at rest": cold, "at rest, after two bots": after_bots})
    print(f"CPU at rest: {percent:.2f} % of a core over {seconds:g} s")
    print(f"POST to first captured audio: {first_s:.2f} s from rest, {second_s:.2f} s with a warm browser")
    print(f"upload of {UPLOAD} to its transcript: {read_s[0]:.2f} s from rest, {read_s[1]:.2f} s afterwards")
    return 1 if sum(cold.values()) > LIMIT_MIB else 0


def held_by(pid: int) -> dict[str, float]:
    """Return the proportional memory of a service's processes in MiB, by what they are."""
    held = dict.fromkeys((*PARTS, "other"), 0.0)
    for process in family_of(pid):
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        held[part_of(line)] += pss_of(process.pid) / 1024
    return held


def part_of(command_line: str) -> str:
    """Return the row that a process counts to."""
    found = (name for name, words in PARTS.items() if any(word in command_line for word in words))
    return next(found, "other")


async def _one_upload(client: httpx2.AsyncClient) -> float:
    """Have one short recording transcribed; returns the seconds from the request to the end."""
    began = time.monotonic()
    clip = catalogue()[UPLOAD].path
    files = {"recording_file": (clip.name, clip.read_bytes())}
    made = (await client.post("/recording", data={"transcription_model": "whisper", "lang": "en"}, files=files)).json()
    while (await client.get(f"/recording/{made['id']}")).json()["status"] != "finished":
        await asyncio.sleep(0.05)
        if time.monotonic() - began > REST_S:
            raise SystemExit(f"the recording was not transcribed within {REST_S:g} s")
    return time.monotonic() - began


async def _rests(pid: int) -> None:
    """Wait until no browser of the service is left, and no worker."""
    until = time.monotonic() + REST_S
    while left := [part for part in ("browser", "driver", "worker") if held_by(pid)[part]]:
        if time.monotonic() > until:
            raise SystemExit(f"still there after {REST_S:g} s without a job: {', '.join(left)}")
        await asyncio.sleep(1)
    await asyncio.sleep(2)


def _show(columns: Mapping[str, Mapping[str, float]]) -> None:
    table = Table("MiB (PSS)", *columns)
    for part in (*PARTS, "other"):
        if any(held[part] for held in columns.values()):
            table.add_row(part, *(f"{held[part]:.0f}" for held in columns.values()))
    table.add_row("all", *(f"{sum(held.values()):.0f}" for held in columns.values()))
    Console().print(table)
