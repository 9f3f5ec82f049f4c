"""`sederunt models`: which speech models are on this machine; fetch, check and remove them."""

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from sederunt import log
from sederunt.cli.error_messages import plain_errors
from sederunt.cli.formats import Output, OutputFormat, cell
from sederunt.cli.terminal import tell, tell_json
from sederunt.errors import SetupError
from sederunt.settings import Settings, load
from sederunt.transcription.whisper import hub, resolution
from sederunt.transcription.whisper.catalog import HUB, is_english_only

app = typer.Typer(no_args_is_help=True)

Data = Annotated[Path | None, typer.Option("--data", help="The data directory; default: SEDERUNT_DATA, else ./data.")]
Name = Annotated[str, typer.Argument(help="A model's name (tiny.en, base, small, …, turbo) or a hub id.")]


@app.command("list")
def list_(
    data: Data = None,
    every: Annotated[bool, typer.Option("--all", help="Also those that could be pulled.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show the Whisper models on this machine, in the order in which they are looked for."""
    with plain_errors():
        settings = _settings(data)
        rows = [
            {
                "name": model.name,
                "languages": "English" if is_english_only(model.name) else "many",
                "from": model.origin,
                "bytes": model.size(),
                "directory": str(model.directory),
            }
            for model in resolution.present(settings.whisper, settings.data)
        ]
        if every:
            local_names = {row["name"] for row in rows}
            rows += [
                {"name": name, "languages": "English" if is_english_only(name) else "many", "from": "hub"}
                for name in HUB
                if name not in local_names
            ]
        if output is OutputFormat.JSON:
            tell_json(rows)
            return
        if not rows:
            tell(resolution.remedies("auto", offline=settings.whisper.offline))
            return
        table = Table("Model", "Languages", "From", "Size", box=None)
        table.add_column("Directory", overflow="fold")
        for row in rows:
            size = f"{int(row['bytes']) / 1e6:.0f} MB" if "bytes" in row else "–"
            values = (row["name"], row["languages"], row["from"], size, row.get("directory"))
            table.add_row(*(cell(value) for value in values))
        Console().print(table)


@app.command()
def pull(name: Name, data: Data = None) -> None:
    """Download a model from the hub into the data directory; goes on where an earlier try broke off."""
    with plain_errors():
        settings = _settings(data)
        offer = hub.look(settings.whisper, name)
        tell(f"{offer.repository}, {offer.total / 1e6:.0f} MB", err=True)
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        ) as progress:
            bar = progress.add_task(name, total=offer.total)
            directory = hub.pull(
                settings.whisper, settings.data, offer, on_bytes=lambda count: progress.advance(bar, count)
            )
        tell(str(directory))


@app.command()
def verify(
    name: Annotated[str | None, typer.Argument(help="One model; all of them when left out.")] = None, data: Data = None
) -> None:
    """Check the files of the models against the sums they should have. Exit code 1 where one is damaged."""
    with plain_errors():
        settings = _settings(data)
        models = resolution.present(settings.whisper, settings.data)
        if name is not None:
            models = [model for model in models if model.name == name]
            if not models:
                raise SetupError(resolution.remedies(name, offline=settings.whisper.offline))
        if not models:
            tell("There is no model on this machine, so nothing was checked.", err=True)
        is_damaged = False
        for model in models:
            faults = model.faults()
            is_damaged = is_damaged or bool(faults)
            verdict = "; ".join(faults) or (
                "sound" if model.expected_sums() else "complete, but nobody told us its sums"
            )
            tell(f"{model.name} ({model.origin}): {verdict}")
        if is_damaged:
            raise typer.Exit(1)


@app.command()
def rm(name: Name, data: Data = None) -> None:
    """Remove a downloaded model, or the joined copy of one from a package."""
    with plain_errors():
        settings = _settings(data)
        installed = resolution.present(settings.whisper, settings.data)
        model = next((candidate for candidate in installed if candidate.name == name), None)
        cache = resolution.cache_directory(settings.whisper, settings.data)
        if model is None:
            raise SetupError(f"There is no model '{name}' on this machine; 'sederunt models list' shows what is.")
        if cache.resolve() not in model.directory.resolve().parents:
            raise SetupError(f"'{name}' belongs to an installed package ({model.directory}): uninstall that instead.")
        shutil.rmtree(model.directory)
        tell(f"Removed {model.directory}")


def _settings(data: Path | None) -> Settings:
    log.configure("lines", "warning")
    return load(**({} if data is None else {"data": data}))
