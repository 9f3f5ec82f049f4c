"""`sederunt doctor`: proves each part with real data, and says what to do about each fault."""

import asyncio
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sederunt import log
from sederunt.cli.checks import CHECKS, Check, Fault
from sederunt.cli.formats import cell
from sederunt.cli.terminal import plain, tell_json
from sederunt.settings import Settings, load


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The result of one check."""

    part: str
    sound: bool
    found: str
    remedy: str
    took_s: float


def doctor(
    data: Path | None = typer.Option(None, help="Data directory. Default: ./data"),
    only: list[str] = typer.Option([], help="Check this part only (disk, database, NATS, …); may be repeated."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON, for scripts."),
) -> None:
    """Prove browser, NATS, disk, storage, database and speech model with real audio. Exit code 1 on a fault."""
    settings = load(**({} if data is None else {"data": data}))
    log.configure("lines", "error")
    part_names = {part.lower() for part, _ in CHECKS}
    if unknown := [name for name in only if name.lower() not in part_names]:
        raise typer.BadParameter(
            f"There is no part '{plain(unknown[0])}'; there are: {', '.join(part for part, _ in CHECKS)}.",
            param_hint="--only",
        )
    chosen_names = {name.lower() for name in only} or part_names
    checks = [(part, check) for part, check in CHECKS if part.lower() in chosen_names]
    findings = [_examined(part, check, settings, quiet=as_json) for part, check in checks]
    if as_json:
        tell_json([{**asdict(finding), "took_s": round(finding.took_s, 2)} for finding in findings])
    else:
        _print(findings)
    if not all(finding.sound for finding in findings):
        raise typer.Exit(1)


def _examined(part: str, check: Check, settings: Settings, *, quiet: bool) -> Finding:
    started_at = time.monotonic()
    is_sound, remedy = True, ""
    with Console(stderr=True, quiet=quiet).status(f"{part} …"):
        try:
            message = asyncio.run(check(settings))
        except Fault as fault:
            is_sound, message, remedy = False, str(fault), fault.remedy
        except Exception as error:  # a doctor must not die of the first patient
            is_sound, message, remedy = (
                False,
                f"{type(error).__name__}: {error}",
                "This was not foreseen: please report it.",
            )
    return Finding(part=part, sound=is_sound, found=message, remedy=remedy, took_s=time.monotonic() - started_at)


def _print(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("part", "", "found", "seconds"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    for finding in findings:
        mark = "[green]sound[/]" if finding.sound else "[red]fault[/]"
        table.add_row(finding.part, mark, cell(finding.found), f"{finding.took_s:.1f}")
        if finding.remedy:
            table.add_row("", "", Text(f"→ {plain(finding.remedy)}", style="yellow"), "")
    Console().print(table)
