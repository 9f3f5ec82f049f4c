"""The formats in which lists are printed."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from sederunt.terminal import plain


class OutputFormat(StrEnum):
    """A format for people, or for scripts."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[OutputFormat, typer.Option("--format", help="A table for people, JSON for scripts.")]


def cell(value: object) -> Text:
    """Return a table's cell: one line without markup or colours."""
    return Text("" if value is None else plain(str(value)))
