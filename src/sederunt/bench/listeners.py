"""`sederunt bench listeners`: what listeners hear of scripted meetings, through a real api process and its nats-server.

Many listeners on one bot, among them one that never reads; then many bots with a listener each. Every event carries its
number and the moment it was made by the publishing process, on the clock that all processes of a machine share.
"""

import asyncio
import json
import re
import socket
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from sederunt.bench.api import Api, api_alone
from sederunt.bench.caller import percentile
from sederunt.bench.processes import child, said

MOST_P99_MS = 250.0
DEAF_S = 75.0  # after so long, a listener that never reads must have been closed


@dataclass(frozen=True, slots=True)
class ListenerCase:
    """So many listeners on each of so many bots, each of which has so many events in a second."""

    name: str
    bots: int
    listeners: int
    per_s: float


@dataclass(slots=True)
class HeardEvents:
    """What one listener heard."""

    numbers: list[int] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)


async def bench_listeners(listeners: int, bots: int, seconds: float, *, deaf: bool) -> int:
    """Print every measurement; 1 where a limit is missed."""
    cases = (
        ListenerCase(f"{listeners} listeners on one bot", 1, listeners, 10.0),
        ListenerCase(f"{bots} bots with a listener each", bots, 1, 5.0),
    )
    with tempfile.TemporaryDirectory(prefix="sederunt-bench-") as folder:
        async with api_alone(Path(folder)) as api:
            good = [await _measure(api, cases[0], seconds, deaf=deaf), await _measure(api, cases[1], seconds)]
    return 0 if all(good) else 1


async def _measure(api: Api, case: ListenerCase, seconds: float, *, deaf: bool = False) -> bool:
    bots = [await _book(api) for _ in range(case.bots)]
    count = round(case.per_s * seconds)
    async with AsyncExitStack() as stack:
        if deaf:
            await stack.enter_async_context(await _never_read(bots[0][1]))
        sockets = [
            await stack.enter_async_context(connect(address, compression=None))
            for _, address in bots
            for _ in range(case.listeners)
        ]
        listening = [asyncio.create_task(_listen(each, count)) for each in sockets]
        publisher = await stack.enter_async_context(
            child("sederunt.bench.scenes", str(api.data), str(case.per_s), str(seconds))
        )
        assert publisher.stdin is not None
        before = api.cpu_s()
        watching = asyncio.create_task(_deaf_is_closed(api, len(sockets))) if deaf else None
        publisher.stdin.write(json.dumps([bot for bot, _ in bots]).encode() + b"\n")
        await said(publisher)
        _, unfinished = await asyncio.wait(listening, timeout=10)
        for task in unfinished:
            task.cancel()
        cpu_s, resident_mb = api.cpu_s() - before, api.resident_mb()
        closed = await watching if watching is not None else True
        kept = await _open_listeners(api) == len(sockets)
    heard = [task.result() for task in listening if task not in unfinished]
    return all([_report(case, heard, count, cpu_s, resident_mb), closed, kept])


def _report(case: ListenerCase, heard: Sequence[HeardEvents], count: int, cpu_s: float, resident_mb: float) -> bool:
    whole = sum(each.numbers == list(range(count)) for each in heard)
    late_ms = [ms for each in heard for ms in each.late_ms]
    p99 = percentile(late_ms, 99)
    everyone = case.bots * case.listeners
    print(
        f"{case.name}: {count:,} events each, {whole} of {everyone} heard all of them once and in order; "
        f"p50 {percentile(late_ms, 50):.1f} ms, p99 {p99:.1f} ms, longest {max(late_ms):.1f} ms; "
        f"{1e6 * cpu_s / len(late_ms):.0f} µs of CPU per message, {resident_mb:.0f} MB resident"
    )
    return whole == everyone and p99 <= MOST_P99_MS


async def _listen(listener: ClientConnection, count: int) -> HeardEvents:
    heard = HeardEvents()
    async for text in listener:
        now = time.monotonic_ns()
        data = json.loads(text).get("data", {})
        if "number" in data:
            heard.numbers.append(data["number"])
            heard.late_ms.append((now - data["made_ns"]) / 1e6)
            if len(heard.numbers) == count:
                break
    return heard


async def _never_read(address: str) -> ClientConnection:
    """Return a listener whose line is full soon, and that answers nothing."""
    found = re.match(r"ws://([^:/]+):(\d+)", address)
    assert found is not None
    line = socket.create_connection((found[1], int(found[2])))
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.setblocking(False)
    listener = await connect(address, sock=line, compression=None, ping_interval=None, close_timeout=0)
    listener.transport.pause_reading()
    return listener


async def _deaf_is_closed(api: Api, others: int) -> bool:
    began = time.monotonic()
    while await _open_listeners(api) > others:
        if time.monotonic() - began > DEAF_S:
            print(f"The listener that never reads was still there after {DEAF_S:.0f} s.")
            return False
        await asyncio.sleep(0.5)
    print(f"The listener that never reads was closed after {time.monotonic() - began:.0f} s.")
    return True


async def _open_listeners(api: Api) -> int:
    """Return how many listeners of events the api says it has."""
    reader, writer = await asyncio.open_connection(api.caller.host, api.caller.port)
    writer.write(f"GET /metrics HTTP/1.1\r\nHost: {api.caller.host}\r\nConnection: close\r\n\r\n".encode())
    try:
        found = re.search(r'sederunt_listeners\{kind="events"\} ([0-9.]+)', (await reader.read()).decode())
    finally:
        writer.close()
    return int(float(found[1])) if found else 0


async def _book(api: Api) -> tuple[str, str]:
    """Return a bot with sockets: (its id, the address of its events)."""
    wanted = {
        "service": "gmeet",
        "meeting_url": "https://meet.google.com/abc-defg-hij",
        "bot_name": "Bench",
        "transcription_model": "none",
        "realtime_audio": True,
        "scheduled_start_time": 4_000_000_000,
    }
    bot = await api.caller.ask(api.caller.request("POST", "/bot", wanted))
    return bot["id"], bot["websocket_url"]
