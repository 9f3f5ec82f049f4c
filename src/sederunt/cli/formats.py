"""In what form a list is printed."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from sederunt.terminal import plain


class OutputFormat(StrEnum):
    """For people, or for scripts."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[OutputFormat, typer.Option("--format", help="A table for people, JSON for scripts.")]


def cell(value: object) -> Text:
    """Return what stands in a table: no markup, no colours, one line."""
    return Text("" if value is None else plain(str(value)))
