"""`sederunt status`: show every process of the installation, its last self-test's result, and what it holds."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sederunt import log
from sederunt.bus import embedded
from sederunt.bus.connection import Bus
from sederunt.bus.heartbeat import EVERY_S, Heartbeat, faults_of, hearing, is_resting
from sederunt.cli.formats import Output, OutputFormat, cell
from sederunt.cli.run_files import nothing_runs
from sederunt.cli.terminal import tell, tell_json
from sederunt.errors import SederuntError
from sederunt.jobs.installation import NEEDED_ROLES, seats_of
from sederunt.settings import BusSettings, Settings, load

LISTEN_S = 1.5 * EVERY_S  # everybody is asked at once; a busy process sends a heartbeat every second anyway
LONGEST_S = 5.0  # to hear a needed role on an overloaded machine
_TABLE = ("role", "name", "pid", "state", "faults", "seats", "version")


def status(
    data: Annotated[Path | None, typer.Option(help="Data directory. Default: ./data")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show every process that is alive and what its last self-test found. Exit code 1 where a needed one is missing."""
    settings = load(**({} if data is None else {"data": data}))
    log.configure("lines", "error")
    try:
        heartbeats = asyncio.run(_living(_bus_of(settings)))
    except SederuntError as error:
        tell(f"sederunt: {error}", err=True)
        raise typer.Exit(1) from None
    rows = [row_of(heartbeat) for heartbeat in heartbeats]
    seats = seats_of([heartbeat for heartbeat in heartbeats if heartbeat.role == "host"])
    if output is OutputFormat.JSON:
        seat_counts = {"total": seats.total, "held": seats.held, "free": seats.free}
        tell_json({"processes": rows, "seats": seat_counts})
    else:
        _print(rows)
        tell(f"seats: {seats.held} held, {seats.free} free")
    if not is_complete(rows):
        raise typer.Exit(1)


def is_complete(rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether every role that an installation needs has a healthy process, or one that rests until a job."""
    return set(NEEDED_ROLES) <= {row["role"] for row in rows if row["state"] in ("ok", "resting")}


def _bus_of(settings: Settings) -> BusSettings:
    bus = embedded.address_of(settings.data, settings.bus)
    if bus.url is None:
        raise nothing_runs(settings.data, "set SEDERUNT_BUS__URL")
    return bus


async def _living(bus_settings: BusSettings) -> list[Heartbeat]:
    bus = await Bus.connect(bus_settings, name="status", within_s=10)
    try:
        async with hearing(bus) as heartbeats:
            await asyncio.sleep(LISTEN_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_S - LISTEN_S):
                    while not is_complete([row_of(heartbeat) for heartbeat in heartbeats.living()]):  # noqa: ASYNC110  # no event
                        await asyncio.sleep(EVERY_S / 4)
            return heartbeats.living()
    finally:
        await bus.close()


def row_of(heartbeat: Heartbeat) -> dict[str, Any]:
    """Return the row that shows a process."""
    faults, facts = faults_of(heartbeat), heartbeat.facts
    states = {"draining": facts.get("draining"), "faulty": faults, "resting": is_resting(heartbeat)}
    return {
        "role": heartbeat.role,
        "name": heartbeat.name,
        "pid": heartbeat.pid,
        "state": next((state for state, applies in states.items() if applies), "ok"),
        "faults": faults,
        "parts": facts.get("parts", {}),
        "tested_at": facts.get("tested_at"),
        "seats": facts.get("seats"),
        "load": facts.get("load"),
        "at_work": facts.get("at_work"),
        "version": facts.get("version"),
    }


def _print(rows: Sequence[dict[str, Any]]) -> None:
    table = Table(*_TABLE, box=None, pad_edge=False)
    for row in rows:
        seats = row["seats"] or {}
        cells = {
            **row,
            "faults": ", ".join(f"{part}: {word}" for part, word in row["faults"].items()),
            "seats": f"{seats['held']} of {seats['total']}" if seats else "",
        }
        table.add_row(*(cell(cells[name]) for name in _TABLE))
    Console().print(table)
