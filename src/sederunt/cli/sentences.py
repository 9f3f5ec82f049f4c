"""Our own errors, told at the terminal as one sentence instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from sederunt.errors import SederuntError


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a SederuntError into its sentence on standard error and exit code 1."""
    try:
        yield
    except SederuntError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
