"""The main job end to end: serve, open a practice meeting, send a bot by HTTP, watch it, print the transcript."""

import asyncio
import json
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sederunt.bench.meter import TreeMeter
from sederunt.bench.processes import ENDINGS, practice_process, service_process
from sederunt.bench.words import word_error_rate
from sederunt.cli.formats import cell
from sederunt.cli.terminal import plain, tell
from sederunt.practice import script as scripts

WORST_ERROR_RATE = 0.12
console = Console()


def demo(keep: bool = typer.Option(False, "--keep", help="Leave the service running.")) -> None:
    """Serve on a free port, open a practice meeting with three people, send a bot, print what it brings back."""
    raise typer.Exit(asyncio.run(_demo(keep)))


async def _demo(keep: bool) -> int:
    data = Path(tempfile.mkdtemp(prefix="sederunt-demo-"))
    script = scripts.demo()
    async with (
        practice_process() as practice,
        service_process(data, await practice.host_rules(), keep=keep) as service,
    ):
        console.print(f"Serving on {service.base_url}, data in {data}")
        if keep:
            tell(f"\nLook at it now, the rest goes on here meanwhile: {service.console_link}\n")
        meeting = await practice.open_meeting(script)
        console.print(
            f"Practice meeting [bold]{meeting.url}[/bold] with {', '.join(person.name for person in script.cast)}"
        )
        async with httpx2.AsyncClient(base_url=service.base_url, headers=service.headers, timeout=30) as http:
            bot, cost = await _send_and_watch(http, meeting.url, service.data)
        is_ok = _report(bot, cost, script, data)
        if keep:
            page = service.base_url.removesuffix("/api/v1") + f"/bots/{bot['id']}"
            console.print(f"\nThe bot's page in the console: {page}", soft_wrap=True)
            tell(f"Sign in first, where you have not yet, by a link that works once: {service.console_link}")
            tell(f"The same by REST: curl -H 'Authorization: Bearer {service.key}' {service.base_url}/bot/{bot['id']}")
            tell(f"The service goes on. Stop it with: kill {service.pid}")
        else:
            tell(f"\nThe service ends with this command, what it made stays in {data}: delete it later.")
            tell("With `make demo KEEP=1` the service goes on, and the meeting can be looked at in the console.")
    if not keep:
        shutil.rmtree(data / "models", ignore_errors=True)  # by far the largest, and unpacked again in a second
    return 0 if is_ok else 1


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the host (browser, capture, driver) spent while the bot sat in the meeting."""

    cpu_s: float
    meeting_s: float
    peak_pss_mib: float


async def _send_and_watch(http: httpx2.AsyncClient, meeting_url: str, data: Path) -> tuple[dict[str, Any], Cost]:
    answer = await http.post(
        "/bot",
        json={
            "service": scripts.DEFAULT_SERVICE,
            "meeting_url": meeting_url,
            "bot_name": "Sederunt",
            "transcription_model": "whisper",
            "stop_options": {"last_person_detection": 1},
        },
    )
    if answer.status_code != 200:
        raise SystemExit(f"POST /bot answered {answer.status_code}: {answer.text}")
    return await _watch(http, answer.json()["id"], TreeMeter([int((data / "run" / "host.pid").read_text())]))


async def _watch(http: httpx2.AsyncClient, bot_id: str, meter: TreeMeter) -> tuple[dict[str, Any], Cost]:
    """Poll the bot twice a second; show status, speakers and time until it has ended."""
    started_at = time.monotonic()
    in_meeting: list[float] = []
    last_line = ""
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while True:
            bot = (await http.get(f"/bot/{bot_id}", params={"with-speaker-events": "true"})).json()
            elapsed = time.monotonic() - started_at
            if bot["status"] == "recording":
                meter.sample()
                in_meeting.append(time.monotonic())
            line = f"{bot['status']:<13}{plain(', '.join(speaking_now(bot))) or '–'}"
            live.update(Text(f"{elapsed:5.0f} s  {line}"))
            if line != last_line and (bot["status"] != last_line[:13].strip() or not console.is_terminal):
                console.print(Text(f"{elapsed:5.0f} s  {line}"), highlight=False)
            last_line = line
            if bot["status"] in ENDINGS:
                break
            await asyncio.sleep(0.5)
    seconds = in_meeting[-1] - in_meeting[0] if in_meeting else 0.0
    return bot, Cost(cpu_s=meter.cpu_s, meeting_s=seconds, peak_pss_mib=meter.peak_pss_mib)


def speaking_now(bot: dict[str, Any]) -> list[str]:
    """Return the names whose last speaking event is a start."""
    return [
        person["name"]
        for person in bot["participants"]
        if person.get("events") and person["events"][-1]["type"] == "started-speaking"
    ]


def _report(bot: dict[str, Any], cost: Cost, script: scripts.Script, data: Path) -> bool:
    if bot["status"] != "finished":
        console.print(f"[red]The bot ended as {bot['status']}[/red]", json.dumps(bot.get("events"), indent=1))
        return False
    table = Table(title="Transcript", show_lines=False, title_justify="left")
    for heading in ("from", "to", "who", "what"):
        table.add_column(heading, justify="right" if heading in ("from", "to") else "left")
    for segment in bot["transcript"]:
        table.add_row(
            *(f"{segment[edge]:.1f}" for edge in ("start", "end")),
            *(cell(segment[column] or "?") for column in ("speaker_name", "transcript")),
        )
    console.print(table)
    transcript = " ".join(segment["transcript"] for segment in bot["transcript"])
    reference = script.reference()
    error_rate = word_error_rate(" ".join(text for _, text in reference), transcript)
    missing = sorted({speaker for speaker, _ in reference} - {segment["speaker_name"] for segment in bot["transcript"]})
    minutes = max(cost.meeting_s, 1) / 60
    recording_path = data / "objects" / "bots" / bot["id"] / "recording.webm"
    console.print(f"Word error rate against the script: {error_rate:.1%} (at most {WORST_ERROR_RATE:.0%})")
    console.print(f"Recording: {recording_path if recording_path.exists() else bot['recording_url']}", soft_wrap=True)
    console.print(
        f"The bot cost {cost.cpu_s / minutes:.1f} CPU-seconds per minute "
        f"({cost.cpu_s / max(cost.meeting_s, 1):.1%} of a core, browser, driver and host process together), "
        f"peak memory {cost.peak_pss_mib:.0f} MiB"
    )
    if missing:
        console.print(f"[red]Not named in the transcript: {', '.join(missing)}[/red]")
    return not missing and error_rate <= WORST_ERROR_RATE
