"""`sederunt reload`: make the running `serve` replace its roles and itself, and wait until it has."""

import os
import time
from pathlib import Path

import typer

from sederunt.cli.replacing import Replacements, told_replacements
from sederunt.cli.run_files import REPLACED, serving_pid
from sederunt.cli.terminal import tell
from sederunt.errors import SetupError
from sederunt.settings import load

LOOK_EVERY_S = 0.2


def reload(
    data: Path | None = typer.Option(None, help="Data directory. Default: ./data"),
    wait: bool = typer.Option(True, help="Wait until the roles are replaced, and fail where they are not."),
) -> None:
    """Replace the programs of the running service by what is installed now, without a gap in any meeting."""
    folder = load(**({} if data is None else {"data": data})).data
    try:
        before = _running(folder)
        os.kill(before.pid, REPLACED)
        if wait:
            while (replacements := _running(folder)).count == before.count:
                time.sleep(LOOK_EVERY_S)
            if replacements.failed is not None:
                raise SetupError(replacements.failed)
            tell("Host, worker, api and serve are replaced.")
    except SetupError as error:
        tell(f"sederunt: {error}", err=True)
        raise typer.Exit(1) from None


def _running(folder: Path) -> Replacements:
    replacements = told_replacements(folder)
    if replacements is None or replacements.pid != serving_pid(folder):
        raise SetupError(
            f"No `sederunt serve` that can replace its roles runs on {folder.resolve()}. "
            "Name its data directory with --data, or restart it where it is of an earlier release."
        )
    return replacements
