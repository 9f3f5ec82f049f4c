"""`sederunt bench capture`: what a bot costs and whether it hears everything, beside a classical bot, in one run.

Every case runs in a process of its own whose whole tree (browser, driver, Python) is measured by CPU-seconds and
proportional memory. The practice sites run in another process and are not counted. One JSON line per case, then a
table of medians, the limits, and the ratios to the classical bot.
"""

import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt.bench.capture_cases import CASES, CLASSICAL, TOLD, CaptureCase, CaptureLimit
from sederunt.bench.classical import classical_bot
from sederunt.bench.host_process import SeatPlan
from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import child, practice_process, said
from sederunt.errors import SetupError
from sederunt.practice import clips
from sederunt.practice import script as scripts
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.python_child import python_command

SETTLE_S = 4.0
console = Console(stderr=True, width=None if sys.stderr.isatty() else 140)


@dataclass(frozen=True, kw_only=True)
class CaptureResult:
    """What one run of one case measured."""

    case: str
    cpu_percent: float  # of one core, per bot, over the window
    pss_mib: float  # per bot, at the end of the window
    browsers_mib: float  # of that, Chromium's; the rest is Python's and the driver's, one each for all bots of a host
    start_cpu_s: float  # to have one bot in the meeting, browser and driver included
    first_audio_s: float  # from asking for a page to the first packet in Python, median over the bots
    packets: int
    lost: int  # RTP sequence gaps
    socket_gaps: int = 0  # batches missing between page and Python
    exact: float | None = None  # share of the packets sent in the window that were captured bit by bit
    pli_per_minute: float | None = None

    @property
    def missing(self) -> float:
        """Share of the packets sent in the window that were not captured as they were; 0 where nobody compared."""
        return 0.0 if self.exact is None else 1 - self.exact


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One limit of a case, and what was measured."""

    case: CaptureCase
    what: str
    measured: float
    limit: CaptureLimit

    @property
    def alarming(self) -> bool:
        return self.measured > self.limit.alarm

    @property
    def verdict(self) -> str:
        return "ALARM" if self.alarming else "over target" if self.measured > self.limit.target else "met"


async def bench_capture(cases: Sequence[str], repeats: int, *, classical: bool) -> int:
    """Run the cases; prints JSON lines on standard output and tables on standard error. 1 where an alarm is passed.

    Raises SetupError for a case that there is not.
    """
    if unknown := sorted(set(cases) - {case.name for case in CASES}):
        known = ", ".join(case.name for case in CASES)
        raise SetupError(f"--case: there is no {', '.join(unknown)}. Known: {known}.")
    chosen = [case for case in CASES if not cases or case.name in cases]
    results: dict[str, list[CaptureResult]] = {case.name: [] for case in chosen}
    async with practice_process() as practice:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("measuring", total=(len(chosen) + classical * len(CLASSICAL)) * repeats)
            for _ in range(repeats):
                for case in chosen:
                    progress.update(task, description=case.title)
                    result = await run_case(case, practice)
                    print(json.dumps(asdict(result)), flush=True)
                    results[case.name].append(result)
                    progress.advance(task)
                for name, (title, variant) in CLASSICAL.items() if classical else ():
                    progress.update(task, description=title)
                    result = await run_classical(practice, name, variant)
                    print(json.dumps(asdict(result)), flush=True)
                    results.setdefault(name, []).append(result)
                    progress.advance(task)
    return report(chosen, results)


async def run_case(case: CaptureCase, practice: PracticeClient) -> CaptureResult:
    """Seat the bots, let them settle, measure the window, ask what they heard."""
    meetings = [await open_meeting(practice, case.variant, case.service) for _ in range(case.bots)]
    plan = SeatPlan(
        **{
            "urls": [meeting.url for meeting in meetings],
            "host_rules": await practice.host_rules(),
            "service": case.service,
            **case.plan,
        }
    )
    async with child("sederunt.bench.host_process", json.dumps(asdict(plan))) as process:
        meter = TreeMeter([process.pid])
        seated = await said(process)
        meter.sample()
        start_cpu_s = meter.total_cpu_s / case.bots
        async with busy(case.busy_loops):
            await asyncio.sleep(SETTLE_S)
            settled = [len(await meeting.packets()) for meeting in meetings] if plan.keep else []
            cpu_percent = await window(meter, case)
        # What was sent is asked first: all of it must have arrived when the bots are asked.
        sent = [(await meeting.packets())[first:] for meeting, first in zip(meetings, settled, strict=False)]
        await asyncio.sleep(SETTLE_S)
        assert process.stdin is not None
        process.stdin.write(b"tell\n")
        heard = (await said(process))["bots"]
    for meeting in meetings:
        await meeting.close()
    return CaptureResult(
        case=case.name,
        cpu_percent=cpu_percent,
        pss_mib=meter.pss_mib / case.bots,
        browsers_mib=meter.browsers_mib / case.bots,
        start_cpu_s=start_cpu_s,
        first_audio_s=statistics.median(seated["first_audio_s"]),
        packets=sum(bot["timeline"]["packets"] for bot in heard),
        lost=sum(bot["timeline"]["lost"] for bot in heard),
        exact=exactness(sent, heard) if plan.keep else None,
        socket_gaps=sum(bot["page"]["gaps"] for bot in heard),
        pli_per_minute=pli_rate(heard, case.seconds),
    )


async def run_classical(practice: PracticeClient, name: str, variant: Mapping[str, Any]) -> CaptureResult:
    """Measure the classical bot in the same meeting, in the same window."""
    meeting = await open_meeting(practice, variant)
    async with child("sederunt.bench.capture", meeting.url, await practice.host_rules()) as process:
        seated = await said(process)
        meter = TreeMeter([process.pid])
        meter.sample()
        start_cpu_s = meter.total_cpu_s
        await asyncio.sleep(SETTLE_S)
        cpu_percent = await window(meter, CaptureCase(name="classical", title="classical"))
        assert process.stdin is not None
        process.stdin.write(b"tell\n")
        await said(process)
    await meeting.close()
    return CaptureResult(
        case=name,
        cpu_percent=cpu_percent,
        pss_mib=meter.pss_mib,
        browsers_mib=meter.browsers_mib,
        start_cpu_s=start_cpu_s,
        first_audio_s=seated["joined_s"],
        packets=0,
        lost=0,
    )


async def window(meter: TreeMeter, case: CaptureCase) -> float:
    """Return percent of a core per bot over the case's window; the meter's last sample is of its end."""
    meter.sample()
    cpu, started = meter.cpu_s, time.monotonic()
    while time.monotonic() - started < case.seconds:
        await asyncio.sleep(1)
        meter.sample()
    elapsed = time.monotonic() - started
    return (meter.cpu_s - cpu) / elapsed * 100 / case.bots


def pli_rate(heard: Sequence[Mapping[str, Any]], seconds: float) -> float:
    """Picture loss indications per video track and minute; 0 without video."""
    tracks = [track for bot in heard for track in bot["page"]["tracks"] if track["kind"] == "video"]
    return sum(track["plis"] for track in tracks) / len(tracks) / (seconds + 2 * SETTLE_S) * 60 if tracks else 0.0


def exactness(sent: Sequence[Sequence[Mapping[str, Any]]], heard: Sequence[Mapping[str, Any]]) -> float:
    """Share of the packets sent in the window that were captured with the same bits, time and sources."""
    total = matched = 0
    for packets, bot in zip(sent, heard, strict=True):
        captured = {(ssrc, seq, at, tuple(csrcs), digest) for ssrc, seq, at, csrcs, digest in bot["frames"]}
        total += len(packets)
        matched += sum(
            (p["ssrc"], p["sequence"], p["timestamp"], tuple(p["csrcs"]), p["digest"]) in captured for p in packets
        )
    return matched / total if total else 0.0


async def open_meeting(
    practice: PracticeClient, variant: Mapping[str, Any], service: scripts.Service = "gmeet"
) -> MeetingHandle:
    """Open a meeting of three people who go on talking."""
    return await practice.open_meeting(everyone_at_once(scripts.Variant(**variant), service))


def everyone_at_once(variant: scripts.Variant, service: scripts.Service = "gmeet") -> scripts.Script:
    """Return three people who talk over each other without end: three tracks that never rest."""
    talk = {
        "Ada Lovelace": ("acoustic_corpus",),
        "Charles Babbage": ("jfk", "librivox_0870", "librivox_0890", "concord"),
        "Mary Somerville": ("cities_short", "cities_hope", "cities_epoch"),
    }
    acts = []
    for who, clips_of in talk.items():
        at_s = 0.0
        for clip in clips_of:
            acts.append(scripts.ScriptedAct(at_s=at_s, do="say", who=who, clip=clip))
            at_s += clips.load(clip).duration_s
    cast = tuple(scripts.CastMember(name=name, host=name == "Ada Lovelace", video=variant.video > 0) for name in talk)
    return scripts.Script(
        service=service, title="Everyone at once", cast=cast, acts=tuple(acts), loop_s=27.0, variant=variant
    )


def judged(cases: Sequence[CaptureCase], results: Mapping[str, Sequence[CaptureResult]]) -> list[Judged]:
    """Hold every limit of these cases against the medians."""
    return [
        Judged(case=case, what=what, measured=median(results[case.name], what), limit=limit)
        for case in cases
        for what, limit in case.limits.items()
    ]


def report(cases: Sequence[CaptureCase], results: Mapping[str, Sequence[CaptureResult]]) -> int:
    """Print the medians, the limits, and the ratios to the classical bot; returns 1 where an alarm is passed."""
    console.print(_table_of_medians(cases, results))
    limits = judged(cases, results)
    table = Table(title="Limits, of medians", title_justify="left")
    for heading in ("case", "what", "measured", "target", "alarm", ""):
        table.add_column(heading, justify="left" if heading in ("case", "what", "") else "right")
    for each in limits:
        measured, target, alarm = (f"{value:.4g}" for value in (each.measured, each.limit.target, each.limit.alarm))
        table.add_row(each.case.title, TOLD[each.what], measured, f"≤ {target}", f"> {alarm}", each.verdict)
    console.print(table)
    for case in cases:
        name = "classical-cameras" if case.variant.get("video") else "classical"
        if results.get(name):
            cpu_ratio = median(results[name], "cpu_percent") / median(results[case.name], "cpu_percent")
            pss_ratio = median(results[name], "pss_mib") / median(results[case.name], "pss_mib")
            console.print(
                f"{case.title}: 1/{cpu_ratio:.1f} of the classical bot's CPU, 1/{pss_ratio:.1f} of its memory"
            )
    return int(any(each.alarming for each in limits))


def _table_of_medians(cases: Sequence[CaptureCase], results: Mapping[str, Sequence[CaptureResult]]) -> Table:
    table = Table(title="Capture, medians", title_justify="left")
    for heading in (
        "case",
        "% core / bot",
        "PSS MiB / bot",
        "browsers'",
        "start CPU-s",
        "first audio s",
        "lost",
        "exact",
    ):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in cases:
        table.add_row(*row(case.title, results[case.name]))
    for name, (title, _) in CLASSICAL.items():
        if results.get(name):
            table.add_row(*row(title, results[name]))
    return table


def row(title: str, results: Sequence[CaptureResult]) -> list[str]:
    exact = [result.exact for result in results if result.exact is not None]
    return [
        title,
        f"{median(results, 'cpu_percent'):.1f}",
        f"{median(results, 'pss_mib'):.0f}",
        f"{median(results, 'browsers_mib'):.0f}",
        f"{median(results, 'start_cpu_s'):.2f}",
        f"{median(results, 'first_audio_s'):.2f}",
        str(sum(result.lost for result in results)),
        f"{min(exact):.4f}" if exact else "",
    ]


def median(results: Sequence[CaptureResult], what: str) -> float:
    return float(statistics.median(getattr(result, what) for result in results))


@asynccontextmanager
async def busy(loops: int) -> AsyncIterator[None]:
    """Run so many processes that do nothing but burn a core."""
    burning = [await asyncio.create_subprocess_exec(*python_command("-c", "while True: pass")) for _ in range(loops)]
    try:
        yield
    finally:
        for process in burning:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _classical_child(url: str, host_rules: str) -> None:
    """Run in a process of its own: join the classical way, tell, wait for the word."""
    started = time.monotonic()
    async with classical_bot(url, host_rules):
        print(json.dumps({"event": "seated", "joined_s": time.monotonic() - started}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps({"event": "captured", "pid": os.getpid()}), flush=True)


if __name__ == "__main__":
    asyncio.run(_classical_child(sys.argv[1], sys.argv[2]))
