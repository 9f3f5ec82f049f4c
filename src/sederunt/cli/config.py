"""`sederunt config`: print the effective settings and where each comes from, with secrets as stars."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel, SecretStr
from rich.console import Console
from rich.table import Table

from sederunt.cli.formats import Output, OutputFormat, cell
from sederunt.cli.terminal import tell_json
from sederunt.log import redact
from sederunt.settings import Settings, load

STARS = "***"


def config(
    data: Path | None = typer.Option(None, help="Data directory, as you would give it to another command."),
    output: Output = OutputFormat.TABLE,
    all_of_them: bool = typer.Option(
        True, "--all/--changed", help="Every setting, or only those that are not default."
    ),
) -> None:
    """Print the effective settings and where each comes from."""
    # Read before loading, which turns …_FILE into the value. Empty variables count as absent.
    environment = {name: value for name, value in os.environ.items() if value}
    settings = load(**({} if data is None else {"data": data}))
    rows = [
        (name, value, origin_of(name, environment, frozenset({"data"} if data is not None else ())))
        for name, value in flat(settings)
    ]
    rows = [row for row in rows if all_of_them or row[2] != "default"]
    if output is OutputFormat.JSON:
        tell_json([{"name": name, "value": value, "origin": origin} for name, value, origin in rows])
        return
    table = Table(box=None, pad_edge=False)
    for title in ("setting", "value", "from"):
        table.add_column(title, overflow="fold")
    for name, value, origin in rows:
        table.add_row(cell(name), cell(value), cell(origin))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def flat(section: BaseModel | Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted name, value as text) of every setting below; secrets as stars."""
    fields = (
        section
        if isinstance(section, Mapping)
        else {name: getattr(section, name) for name in type(section).model_fields}
    )
    for name, value in fields.items():
        if isinstance(value, BaseModel) or (isinstance(value, Mapping) and value):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(value)


def _text(value: object) -> str:
    if isinstance(value, SecretStr):
        return STARS
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)
    return "" if value is None else redact(str(value))


def origin_of(name: str, environment: Mapping[str, str], overridden: frozenset[str] = frozenset()) -> str:
    """Return "command line", the environment variable (or file) that sets it, or "default"."""
    if name.partition(".")[0] in overridden:
        return "command line"
    prefix = str(Settings.model_config["env_prefix"])
    delimiter = str(Settings.model_config["env_nested_delimiter"])
    parts = name.split(".")
    names = {variable.upper(): variable for variable in environment}
    for depth in range(len(parts), 0, -1):  # a section may be given whole, as JSON
        variable = (prefix + delimiter.join(parts[:depth])).upper()
        for spelling in (variable, f"{variable}_FILE"):
            if spelling in names:
                return names[spelling]
    return "default"
