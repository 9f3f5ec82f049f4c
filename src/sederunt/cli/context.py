"""Open a data directory, choose the account and print a list, for the commands that look into a data directory."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from sederunt import log
from sederunt.accounts.lost_key import open_sealer, sealer_at_hand
from sederunt.accounts.sealing import Sealer
from sederunt.cli.error_messages import plain_errors
from sederunt.cli.formats import Output, OutputFormat, cell
from sederunt.cli.terminal import plain, tell, tell_json
from sederunt.database.accounts import Account, Accounts
from sederunt.database.default_account import DEFAULT_ACCOUNT
from sederunt.database.engine import Database, database_file, database_url
from sederunt.errors import NotFound, SetupError
from sederunt.settings import Settings, load

Data = Annotated[Path | None, typer.Option("--data", help="The data directory; default: SEDERUNT_DATA, else ./data.")]
AccountName = Annotated[str, typer.Option("--account", help="Whose; an account's name.")]
OF_DEFAULT = DEFAULT_ACCOUNT

__all__ = [
    "OF_DEFAULT",
    "AccountName",
    "CommandContext",
    "Data",
    "Output",
    "OutputFormat",
    "open_context",
    "run",
    "show",
    "uuid_of",
]

_WIDE = 300  # characters per line of a table for a program


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandContext:
    """An open data directory."""

    settings: Settings
    database: Database
    sealer: Sealer

    async def account(self, name: str) -> Account:
        """Return the account of this name. Raises NotFound."""
        try:
            return await Accounts(self.database).named(name)
        except NotFound:
            raise NotFound(f"There is no account '{name}': `sederunt accounts list` shows those there are.") from None


@asynccontextmanager
async def open_context(
    data: Path | None, *, makes: bool = False, key_lost: bool = False
) -> AsyncIterator[CommandContext]:
    """Open the database of a data directory, running service or not.

    Args:
        data: the directory; None for that of the settings.
        makes: whether to make a missing directory; a command that only looks gets SetupError instead.
        key_lost: whether the act is about secrets that do not open, and so works without the key.
    """
    settings = load(**({} if data is None else {"data": data}))
    if settings.database.url is None and not database_file(settings.data).exists():
        place = settings.data.resolve()
        if not makes:
            raise SetupError(f"There is no service's data at {place}: name its directory with --data.")
        if not settings.data.exists():
            tell(f"There was no data directory at {place}: one was made.", err=True)
    async with Database(database_url(settings)) as database:
        sealer = sealer_at_hand(settings) if key_lost else await open_sealer(database, settings)
        yield CommandContext(settings=settings, database=database, sealer=sealer)


def run(
    act: Callable[[CommandContext], Coroutine[Any, Any, None]],
    data: Path | None,
    *,
    makes: bool = False,
    key_lost: bool = False,
) -> None:
    """Run one act on the data directory. An error becomes one sentence on standard error and exit code 1."""
    log.configure("lines", "warning")
    with plain_errors():
        asyncio.run(_run(act, data, makes=makes, key_lost=key_lost))


async def _run(
    act: Callable[[CommandContext], Coroutine[Any, Any, None]], data: Path | None, *, makes: bool, key_lost: bool
) -> None:
    async with open_context(data, makes=makes, key_lost=key_lost) as context:
        await act(context)


def asked_secret(prompt: str) -> str:
    """Ask for a secret so that it is in no shell history or process list; scripts write it to standard input."""
    if sys.stdin.isatty():
        return str(typer.prompt(prompt, hide_input=True))
    return sys.stdin.readline().rstrip("\n")


def show(rows: Sequence[Mapping[str, Any]], *, output: OutputFormat, nothing: str) -> None:
    """Print a list: a table for people, a JSON array for scripts. Every row has the same keys."""
    if output is OutputFormat.JSON:
        tell_json([dict(row) for row in rows], default=json_text)
        return
    if not rows:
        tell(nothing)
        return
    table = Table(box=None, pad_edge=False)
    for name in rows[0]:
        # Nothing is cut short: ids and keys stay on one line, everything else wraps.
        table.add_column(name.replace("_", " "), no_wrap=name in ("id", "key"), overflow="fold")
    for row in rows:
        table.add_row(
            *(cell(f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else value) for value in row.values())
        )
    Console(width=None if sys.stdout.isatty() else _WIDE).print(table)


def json_text(value: object) -> str:
    """Write a value that JSON has no type for: times in RFC 3339, everything else by `str`."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def uuid_of(text: str, kind: str) -> UUID:
    """Return the id that a person typed. Raises BadParameter if it is none."""
    try:
        return UUID(text)
    except ValueError:
        raise typer.BadParameter(f"'{plain(text)}' is not the id of {kind}: ids look like 018f2c3e-….") from None
