"""`sederunt bench capture`: what a bot costs and whether it hears everything, beside a classical bot, in one run.

Every case runs in a process of its own whose whole tree (browser, driver, Python) is measured by CPU-seconds and
proportional memory. The practice sites run in another process and are not counted. One JSON line per case, then a
table of medians and the ratios to the classical bot.
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
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sederunt.bench.classical import classical_bot
from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import child, practice_process, said
from sederunt.bench.seated import Plan
from sederunt.practice import clips
from sederunt.practice import script as scripts
from sederunt.practice.client import MeetingHandle, PracticeClient

SETTLE_S = 4.0
console = Console(stderr=True, width=None if sys.stderr.isatty() else 140)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the table."""

    name: str
    title: str
    service: scripts.Service = "gmeet"
    bots: int = 1
    seconds: float = 20
    plan: Mapping[str, Any] = field(default_factory=dict)
    variant: Mapping[str, Any] = field(default_factory=dict)
    busy_loops: int = 0
    limit_cpu: float | None = None  # % of a core per bot
    limit_pss: float | None = None  # MiB per bot


# What is asked of the capture (rows of the capture plan's benchmark list), lightest first.
CASES: Sequence[Case] = (
    Case(name="encoded", title="encoded, own browser (shell)", limit_cpu=6, limit_pss=110 * 3),
    Case(
        name="shared",
        title="encoded, 8 bots in one browser (shell)",
        bots=8,
        plan={"bots_per_browser": 8},
        limit_cpu=4,
        limit_pss=72,
    ),
    Case(name="cameras", title="encoded, three cameras on (not received)", variant={"video": 3}, limit_cpu=6),
    Case(name="separate", title="encoded, 8 browsers (shell)", bots=8, limit_pss=130),
    Case(name="worklet", title="worklet, own browser (shell)", plan={"backend": "worklet"}, limit_cpu=11),
    Case(
        name="chromium-shared",
        title="encoded, 8 bots in one chromium",
        bots=8,
        plan={"bots_per_browser": 8, "mode": "headless"},
        limit_pss=140,
    ),
    Case(name="video", title="encoded audio and 3 videos", plan={"video": True}, variant={"video": 3}, limit_cpu=12),
    Case(name="teams", title="Teams, own browser (shell)", service="teams", limit_cpu=6),
    Case(
        name="teams-shared",
        title="Teams, 8 bots in one browser (shell)",
        service="teams",
        bots=8,
        plan={"bots_per_browser": 8},
        limit_cpu=4,
    ),
    Case(name="zoom", title="Zoom, own browser (shell)", service="zoom", limit_cpu=6),
    Case(
        name="zoom-shared",
        title="Zoom, 8 bots in one browser (shell)",
        service="zoom",
        bots=8,
        plan={"bots_per_browser": 8},
        limit_cpu=4,
    ),
    # No receiver, no encoded frame: the client's own decoding is in it, and nothing of that is ours to save.
    Case(name="zoom-channel", title="Zoom, sound over a data channel", service="zoom", variant={"audio": "webaudio"}),
    Case(name="minute", title="60 s, every packet compared", seconds=60, plan={"keep": True}),
    Case(name="busy", title="3 bots beside 4 busy loops", bots=3, busy_loops=4, plan={"keep": True}),
)


# The classical bot's rows: (title, meeting). Our rows are held against the one of the same meeting.
CLASSICAL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "classical": ("classical bot", {}),
    "classical-cameras": ("classical bot, three cameras on", {"video": 3}),
}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one run of one case measured."""

    case: str
    cpu_percent: float  # of one core, per bot, over the window
    pss_mib: float  # per bot, at the end of the window
    start_cpu_s: float  # to have one bot in the meeting, browser and driver included
    first_audio_s: float  # from asking for a page to the first packet in Python, median over the bots
    packets: int
    lost: int  # RTP sequence gaps
    socket_gaps: int = 0  # batches missing between page and Python
    exact: float | None = None  # share of the packets sent in the window that were captured bit by bit
    pli_per_minute: float | None = None


async def bench_capture(cases: Sequence[str], repeats: int, *, classical: bool) -> int:
    """Run the cases; prints JSON lines on standard output and a table on standard error. 1 where a limit is missed."""
    chosen = [case for case in CASES if not cases or case.name in cases]
    results: dict[str, list[Result]] = {case.name: [] for case in chosen}
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


async def run_case(case: Case, practice: PracticeClient) -> Result:
    """Seat the bots, let them settle, measure the window, ask what they heard."""
    meetings = [await open_meeting(practice, case.variant, case.service) for _ in range(case.bots)]
    plan = Plan(
        **{
            "urls": [meeting.url for meeting in meetings],
            "host_rules": await practice.host_rules(),
            "service": case.service,
            **case.plan,
        }
    )
    async with child("sederunt.bench.seated", json.dumps(asdict(plan))) as process:
        meter = TreeMeter([process.pid])
        seated = await said(process)
        meter.sample()
        start_cpu_s = meter.total_cpu_s / case.bots
        async with busy(case.busy_loops):
            await asyncio.sleep(SETTLE_S)
            settled = [len(await meeting.packets()) for meeting in meetings] if plan.keep else []
            cpu_percent, pss = await window(meter, case)
        # What was sent is asked first: all of it must have arrived when the bots are asked.
        sent = [(await meeting.packets())[first:] for meeting, first in zip(meetings, settled, strict=False)]
        await asyncio.sleep(SETTLE_S)
        assert process.stdin is not None
        process.stdin.write(b"tell\n")
        heard = (await said(process))["bots"]
    for meeting in meetings:
        await meeting.close()
    return Result(
        case=case.name,
        cpu_percent=cpu_percent,
        pss_mib=pss,
        start_cpu_s=start_cpu_s,
        first_audio_s=statistics.median(seated["first_audio_s"]),
        packets=sum(bot["timeline"]["packets"] for bot in heard),
        lost=sum(bot["timeline"]["lost"] for bot in heard),
        exact=exactness(sent, heard) if plan.keep else None,
        socket_gaps=sum(bot["page"]["gaps"] for bot in heard),
        pli_per_minute=pli_rate(heard, case.seconds),
    )


async def run_classical(practice: PracticeClient, name: str, variant: Mapping[str, Any]) -> Result:
    """The classical bot on the same meeting, with the same window."""
    meeting = await open_meeting(practice, variant)
    async with child("sederunt.bench.capture", meeting.url, await practice.host_rules()) as process:
        seated = await said(process)
        meter = TreeMeter([process.pid])
        meter.sample()
        start_cpu_s = meter.total_cpu_s
        await asyncio.sleep(SETTLE_S)
        cpu_percent, pss = await window(meter, Case(name="classical", title="classical"))
        assert process.stdin is not None
        process.stdin.write(b"tell\n")
        await said(process)
    await meeting.close()
    return Result(
        case=name,
        cpu_percent=cpu_percent,
        pss_mib=pss,
        start_cpu_s=start_cpu_s,
        first_audio_s=seated["joined_s"],
        packets=0,
        lost=0,
    )


async def window(meter: TreeMeter, case: Case) -> tuple[float, float]:
    """(percent of a core per bot, MiB PSS per bot) over the case's window."""
    meter.sample()
    cpu, started = meter.cpu_s, time.monotonic()
    while time.monotonic() - started < case.seconds:
        await asyncio.sleep(1)
        meter.sample()
    elapsed = time.monotonic() - started
    return (meter.cpu_s - cpu) / elapsed * 100 / case.bots, meter.pss_mib / case.bots


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
    """Three people who go on talking."""
    return await practice.open_meeting(everyone_at_once(scripts.Variant(**variant), service))


def everyone_at_once(variant: scripts.Variant, service: scripts.Service = "gmeet") -> scripts.Script:
    """Three people who talk over each other without end: three tracks that never rest."""
    talk = {
        "Ada Lovelace": ("acoustic_corpus",),
        "Charles Babbage": ("jfk", "librivox_0870", "librivox_0890", "concord"),
        "Mary Somerville": ("cities_short", "cities_hope", "cities_epoch"),
    }
    acts = []
    for who, clips_of in talk.items():
        at_s = 0.0
        for clip in clips_of:
            acts.append(scripts.Act(at_s=at_s, do="say", who=who, clip=clip))
            at_s += clips.load(clip).duration_s
    cast = tuple(scripts.Participant(name=name, host=name == "Ada Lovelace", video=variant.video > 0) for name in talk)
    return scripts.Script(
        service=service, title="Everyone at once", cast=cast, acts=tuple(acts), loop_s=27.0, variant=variant
    )


def report(cases: Sequence[Case], results: Mapping[str, Sequence[Result]]) -> int:
    """The table of medians, the ratios to the classical bot, and the verdict on the limits."""
    table = Table(title="Capture, medians", title_justify="left")
    for heading in ("case", "% core / bot", "PSS MiB / bot", "start CPU-s", "first audio s", "lost", "exact", "limits"):
        table.add_column(heading, justify="left" if heading in ("case", "limits") else "right")
    missed = 0
    for case in cases:
        cpu, pss = median(results[case.name], "cpu_percent"), median(results[case.name], "pss_mib")
        over = [
            f"{what} {value:.1f} > {limit:g}"
            for what, value, limit in (("cpu", cpu, case.limit_cpu), ("pss", pss, case.limit_pss))
            if limit is not None and value > limit
        ]
        missed += bool(over)
        table.add_row(*row(case.title, results[case.name]), ", ".join(over) or "met")
    for name, (title, _) in CLASSICAL.items():
        if results.get(name):
            table.add_row(*row(title, results[name]), "")
    console.print(table)
    for case in cases:
        name = "classical-cameras" if case.variant.get("video") else "classical"
        if results.get(name):
            cpu_ratio = median(results[name], "cpu_percent") / median(results[case.name], "cpu_percent")
            pss_ratio = median(results[name], "pss_mib") / median(results[case.name], "pss_mib")
            console.print(
                f"{case.title}: 1/{cpu_ratio:.1f} of the classical bot's CPU, 1/{pss_ratio:.1f} of its memory"
            )
    return 1 if missed else 0


def row(title: str, results: Sequence[Result]) -> list[str]:
    exact = [result.exact for result in results if result.exact is not None]
    return [
        title,
        f"{median(results, 'cpu_percent'):.1f}",
        f"{median(results, 'pss_mib'):.0f}",
        f"{median(results, 'start_cpu_s'):.2f}",
        f"{median(results, 'first_audio_s'):.2f}",
        str(sum(result.lost for result in results)),
        f"{min(exact):.4f}" if exact else "",
    ]


def median(results: Sequence[Result], what: str) -> float:
    return float(statistics.median(getattr(result, what) for result in results))


@asynccontextmanager
async def busy(loops: int) -> AsyncIterator[None]:
    """So many processes that do nothing but burn a core."""
    burning = [await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass") for _ in range(loops)]
    try:
        yield
    finally:
        for process in burning:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _classical_child(url: str, host_rules: str) -> None:
    """In a process of its own: join the classical way, tell, wait for the word."""
    started = time.monotonic()
    async with classical_bot(url, host_rules):
        print(json.dumps({"event": "seated", "joined_s": time.monotonic() - started}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps({"event": "captured", "pid": os.getpid()}), flush=True)


if __name__ == "__main__":
    asyncio.run(_classical_child(sys.argv[1], sys.argv[2]))
