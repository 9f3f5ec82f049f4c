"""In what form a list is printed."""

from enum import StrEnum
from typing import Annotated

import typer


class OutputFormat(StrEnum):
    """For people, or for scripts."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[OutputFormat, typer.Option("--format", help="A table for people, JSON for scripts.")]
