"""`sederunt bench load`: what bots cost the control plane, as a curve over their number.

Real nats-server, api and worker, and a host without browsers (`scripted_host`) whose bots claim, move, write and tell
as real ones do: each has a caller, webhooks, and a listener at its events. What pages and sound cost is measured by
`sederunt bench capture`, and comes on top.
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from websockets.asyncio.client import ClientConnection, connect

from sederunt.bench.api import Api, api_alone
from sederunt.bench.caller import percentile
from sederunt.bench.meter import cpu_s_of, resident_mb_of
from sederunt.bench.processes import child, said
from sederunt.bench.webhook_receiver import Hooks, hooks_received
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.errors import SetupError

STATUSES = ("joining", "recording", "leaving", "processing", "finished")  # of a bot that nobody disturbs, in order
CALLERS = 8  # connections that send bots at once
SETTLE_S = 3.0
REACH_S = 900.0
LATE_MS = 1000.0  # that an event may take to a listener
BUSY = 0.9  # of one core: a process of ours has one event loop
_WIDTH = 40  # of the longest bar
_MEETING = "https://meet.google.com/abc-defg-hij"
# What would refuse so many bots of one account; receivers on loopback are private addresses.
_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "SEDERUNT_API__CONCURRENT_BOTS": "1000000",
        "SEDERUNT_API__SOCKETS_PER_ACCOUNT": "0",
        "SEDERUNT_ALLOW_PRIVATE_ADDRESSES": "true",
    }
)
# An installation of this machine, which is not to be measured.
_OTHERS = ("SEDERUNT_DATABASE__URL", "SEDERUNT_BUS__URL", "SEDERUNT_STORAGE__URL")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadStep:
    """What was measured while so many bots sat in their meetings."""

    bots: int
    cores: Mapping[str, float]  # process → cores that it used
    resident_mb: Mapping[str, float]
    post_ms: Sequence[float]
    seated_s: Sequence[float]  # from the request until the webhook that says `recording`
    late_ms: Sequence[float]  # events, from what happened until a listener had it
    bench_cores: float

    @property
    def per_bot(self) -> float:
        """Return the share of one core that a bot costs, all processes together."""
        return sum(self.cores.values()) / self.bots

    @property
    def busiest(self) -> str:
        """Return the process that uses most of its core."""
        return max(self.cores, key=lambda name: self.cores[name])


@dataclass
class _Room:
    """The running service, and who calls it."""

    api: Api
    hooks: Hooks
    processes: Mapping[str, int]
    asked_at: dict[str, float] = field(default_factory=dict)  # bot → when it was sent
    late_ms: list[float] = field(default_factory=list)
    listening: list[asyncio.Task[None]] = field(default_factory=list)

    def used(self) -> dict[str, float]:
        """Return the CPU-seconds of each process until now, its children's among them; ours under `bench`."""
        return {name: cpu_s_of(pid) for name, pid in {**self.processes, "bench": os.getpid()}.items()}


async def bench_load(bots: int, seconds: float, changes_per_s: float, database: str) -> None:
    """Print every measurement. SystemExit where a webhook was lost, doubled or out of order.

    Args:
        database: an address; empty for a file of SQLite. Raises SetupError where it holds bots: it is somebody's.
    """
    for name in _OTHERS:
        os.environ.pop(name, None)
    os.environ.update(_ENVIRONMENT)
    if database:
        os.environ["SEDERUNT_DATABASE__URL"] = database
        await _refuse_used(database)
    steps = sorted({max(bots // parts, 1) for parts in (8, 4, 2, 1)})
    async with AsyncExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sederunt-bench-")))
        api = await stack.enter_async_context(api_alone(data))
        hooks = await stack.enter_async_context(hooks_received())
        worker = await stack.enter_async_context(
            child("sederunt.cli.main", "worker", "--data", str(data), "--drain-timeout", "1", quiet=True)
        )
        await said(worker)
        host = await stack.enter_async_context(
            child("sederunt.bench.scripted_host", str(data), str(bots), str(changes_per_s), quiet=True)
        )
        await said(host)
        processes = {"api": api.pid, "worker": worker.pid, "host": host.pid, "NATS": api.nats_pid}
        room = _Room(api=api, hooks=hooks, processes=processes)
        found = []
        for wanted in steps:
            found.append(await _step(room, stack, wanted, seconds))
            print("\n".join(lines_of(found[-1])), flush=True)
        print("\n".join([*curve(found), *limits(found, os.cpu_count() or 1)]), flush=True)
        await _end(room, host, bots)
        worker.terminate()
        for task in room.listening:
            task.cancel()


async def _refuse_used(address: str) -> None:
    async with Database(address) as database:
        if (await Bots(database).find(database.default_account_id, limit=1)).bots:
            raise SetupError("There are bots in this database. Give the bench an empty one, and drop it afterwards.")


async def _step(room: _Room, stack: AsyncExitStack, wanted: int, seconds: float) -> LoadStep:
    known, more = set(room.asked_at), wanted - len(room.asked_at)
    shares = [more // CALLERS + (n < more % CALLERS) for n in range(CALLERS)]
    post_ms = [ms for each in await asyncio.gather(*(_send(room, stack, share) for share in shares)) for ms in each]
    await room.hooks.until("recording", wanted, within_s=REACH_S)
    await asyncio.sleep(SETTLE_S)
    room.late_ms.clear()
    before, began = room.used(), time.monotonic()
    await asyncio.sleep(seconds)
    after, lasted_s = room.used(), time.monotonic() - began
    cores = {name: (after[name] - before[name]) / lasted_s for name in after}
    seated = [_seated_s(room, bot) for bot in room.asked_at if bot not in known]
    return LoadStep(
        bots=wanted,
        bench_cores=cores.pop("bench"),
        cores=cores,
        resident_mb={name: resident_mb_of(pid) for name, pid in room.processes.items()},
        post_ms=post_ms,
        seated_s=seated,
        late_ms=list(room.late_ms),
    )


def _seated_s(room: _Room, bot: str) -> float:
    return next(at for status, at in room.hooks.told[bot] if status == "recording") - room.asked_at[bot]


async def _send(room: _Room, stack: AsyncExitStack, count: int) -> list[float]:
    """Send so many bots, one after another, each with a listener; returns what each request took, in ms."""
    wanted = {
        "service": "gmeet",
        "meeting_url": _MEETING,
        "bot_name": "Bench",
        "transcription_model": "none",
        "realtime_audio": True,
        "webhook_url": room.hooks.url,
    }
    request, times_ms = room.api.caller.request("POST", "/bot", wanted), []
    for _ in range(count):
        asked_at, began = time.time(), time.perf_counter()
        bot = await room.api.caller.ask(request)
        times_ms.append((time.perf_counter() - began) * 1000)
        room.asked_at[bot["id"]] = asked_at
        socket = await stack.enter_async_context(connect(bot["websocket_read_only_url"], compression=None))
        room.listening.append(asyncio.create_task(_listen(socket, room.late_ms)))
    return times_ms


async def _listen(listener: ClientConnection, late_ms: list[float]) -> None:
    async for text in listener:
        event = json.loads(text)
        if event["type"] in ("started-speaking", "stopped-speaking"):
            late_ms.append(time.time() * 1000 - event["data"]["timestamp"])


async def _end(room: _Room, host: asyncio.subprocess.Process, bots: int) -> None:
    """End all meetings at once, and count what the receiver was told. SystemExit where it is not what happened."""
    assert host.stdin is not None
    began = time.monotonic()
    host.stdin.write(b"over\n")
    await room.hooks.until("finished", bots, within_s=REACH_S)
    took_s = time.monotonic() - began
    told = {bot: tuple(status for status, _ in room.hooks.told[bot]) for bot in room.asked_at}
    odd = {bot: statuses for bot, statuses in told.items() if statuses != STATUSES}
    whole = bots - len(odd)
    count = sum(map(len, told.values()))
    print(
        f"All {bots:,} meetings ended at once: {3 * bots / took_s:,.0f} webhooks per second until the last was told "
        f"to have finished, {took_s:.0f} s later. {count:,} webhooks in all; of {whole:,} of {bots:,} bots each of the "
        f"{len(STATUSES)} came once and in order."
    )
    if odd:
        raise SystemExit(f"Webhooks were lost, doubled or out of order, such as {dict(list(odd.items())[:3])}.")


def lines_of(step: LoadStep) -> Iterator[str]:
    """Yield what a person reads of one step."""
    cores = ", ".join(f"{name} {100 * used:.1f} %" for name, used in step.cores.items())
    memory = ", ".join(f"{name} {mb:.0f} MB" for name, mb in step.resident_mb.items())
    yield f"{step.bots:,} bots in their meetings: {cores} of a core; {100 * step.per_bot:.3f} % of a core per bot"
    yield (
        f"  POST {_spread(step.post_ms)} ms; until `recording` was told {_spread(step.seated_s)} s; "
        f"events at listeners {_spread(step.late_ms)} ms late ({len(step.late_ms):,})"
    )
    yield f"  {memory}; this bench {100 * step.bench_cores:.0f} % of a core"


def curve(steps: Sequence[LoadStep]) -> Iterator[str]:
    """Yield the plot of the share of a core that a bot costs, over the number of bots."""
    most = max(step.per_bot for step in steps) or 1.0  # a few bots for a second may use nothing that can be measured
    yield "Control plane, % of a core per bot:"
    for step in steps:
        bar = "█" * max(round(_WIDTH * step.per_bot / most), 1)
        yield f"  {step.bots:>7,} {bar} {100 * step.per_bot:.3f}"


def limits(steps: Sequence[LoadStep], cores: int) -> Iterator[str]:
    """Yield what limits more bots: what was seen, or else what is reckoned from the last step."""
    last = steps[-1]
    late = next((step for step in steps if step.late_ms and percentile(step.late_ms, 99) > LATE_MS), None)
    if late is not None:
        yield (
            f"The first limit is what the database commits for one host: with {late.bots:,} bots, events wait "
            f"{percentile(late.late_ms, 99) / 1000:.1f} s (p99) to be written, while no process has used up its core."
        )
        return
    busiest, used = last.busiest, last.cores[last.busiest]
    if not used:
        yield "No process used CPU that can be measured: measure longer, or with more bots."
        return
    together = sum(last.cores.values())
    alone = round(last.bots * BUSY / used)
    whole = round(last.bots * BUSY * cores / together)
    what = f"this machine's {cores} cores" if whole < alone else f"one core of the {busiest} process"
    yield f"The first limit is {what}: about {min(whole, alone):,} bots (reckoned from the last step, not tried)."
    if last.bench_cores > BUSY:
        yield "This bench used a whole core itself: what it says of lateness is too much."


def _spread(values: Sequence[float]) -> str:
    return f"p50 {percentile(values, 50):.1f}, p99 {percentile(values, 99):.1f}" if values else "none"
