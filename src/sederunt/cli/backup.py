"""`sederunt backup`: a copy of a data directory, made while the service runs, that `sederunt serve` can start on."""

import contextlib
import shutil
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

import typer

from sederunt.accounts.sealing import KEY_FILE
from sederunt.cli.terminal import tell
from sederunt.errors import SetupError
from sederunt.settings import Settings, load
from sederunt.storage.objects import folder_of


def backup(
    target: Path = typer.Argument(help="Where the copy goes: a directory that does not exist yet, or is empty."),
    data: Path | None = typer.Option(None, help="Data directory. Default: ./data"),
    with_key: bool = typer.Option(
        False, "--with-key", help="Copy the sealing key too. Who has both can read the stored secrets."
    ),
) -> None:
    """Copy database and recordings of one machine, while the service runs. The copy is a data directory itself."""
    settings = load(**({} if data is None else {"data": data}))
    database = _database(settings)
    objects = folder_of(settings)
    if objects is None:
        raise SetupError("The recordings are in a bucket: back it up by its own means (docs/backup.md).")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SetupError(f"{target} is there already. Name a directory that does not exist yet.")
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite's own backup copies one moment, whatever is written meanwhile.
    with (
        contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as here,
        contextlib.closing(sqlite3.connect(target / "sederunt.db")) as there,
    ):
        here.backup(there)
    # After the database: what was deleted meanwhile is missing in the copy, what came meanwhile does no harm in it.
    count = _copy_objects(objects, target / "objects")
    key = settings.data / KEY_FILE
    if with_key and key.exists():
        shutil.copy2(key, target / KEY_FILE)
    tell(f"Backed up the database and {count} files to {target}.")
    if key.exists() and not with_key:
        tell(f"The sealing key is not among them: keep {key} elsewhere, once. Without it, stored secrets are lost.")
    tell(f"To use the copy: put {KEY_FILE} beside it and run `sederunt serve --data {target}`.")


def _database(settings: Settings) -> Path:
    if settings.database.url is None:
        path = settings.data / "sederunt.db"
    elif settings.database.url.startswith("sqlite"):
        path = Path(urlsplit(settings.database.url).path.removeprefix("/"))
    else:
        raise SetupError("The database is PostgreSQL: back it up by pg_dump (docs/backup.md).")
    if not path.is_file():
        raise SetupError(f"There is no database at {path}. Name the service's data directory with --data.")
    return path


def _copy_objects(source: Path, target: Path) -> int:
    """Copy file by file; one that is deleted under our hands is left out. Returns how many there are in the copy."""
    count = 0
    target.mkdir(mode=0o700)
    for path in source.rglob("*") if source.exists() else ():
        goal = target / path.relative_to(source)
        with contextlib.suppress(FileNotFoundError):
            if path.is_dir():
                goal.mkdir(parents=True, exist_ok=True)
            else:
                goal.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, goal)
                count += 1
    return count
