"""`sederunt backup`: copy a data directory while the service runs, so that `sederunt serve` can start on the copy."""

import contextlib
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import typer

from sederunt.accounts.sealing import KEY_FILE
from sederunt.cli.terminal import tell
from sederunt.database.engine import sqlite_file
from sederunt.errors import SetupError
from sederunt.settings import Settings, load
from sederunt.storage.objects import folder_of

DATABASE = "sederunt.db"
DRAFT = ".part"


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
    key = settings.data / KEY_FILE
    with _draft_in(target) as draft:
        count = _copy(database, objects, draft)
        if with_key and key.exists():
            shutil.copy2(key, draft / KEY_FILE)
    tell(f"Backed up the database and {count} files to {target}.")
    if key.exists() and not with_key:
        tell(f"The sealing key is not among them: keep {key} elsewhere, once. Without it, stored secrets are lost.")
    tell(f"To use the copy: put {KEY_FILE} beside it and run `sederunt serve --data {target}`.")


@contextlib.contextmanager
def _draft_in(target: Path) -> Iterator[Path]:
    """Provide a folder whose content moves to the target at the end of the block.

    The folder is inside the target, which may be a mount, to which nothing can be renamed. A broken run leaves only the
    draft, which the next run removes: it blocks nothing, and nobody takes half a copy for a whole one.
    """
    if target.exists() and (not target.is_dir() or any(path.name != DRAFT for path in target.iterdir())):
        raise SetupError(f"{target} is there already. Name a directory that does not exist yet.")
    draft = target / DRAFT
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _locked(target):
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        yield draft
        # The database comes last: a target that has one is complete.
        for path in sorted(draft.iterdir(), key=lambda path: path.name == DATABASE):
            path.rename(target / path.name)
        draft.rmdir()


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Keep out a second backup, which would remove this one's draft as a left-over. The lock ends with the process."""
    folder = os.open(target, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise SetupError(f"Another backup to {target} is under way.") from None
    finally:
        os.close(folder)


def _copy(database: Path, objects: Path, target: Path) -> int:
    """Copy the database, then the objects; return the number of objects."""
    # SQLite's own backup copies a snapshot, whatever is written meanwhile.
    with (
        contextlib.closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(target / DATABASE)) as copy,
    ):
        source.backup(copy)
    # After the database: objects deleted meanwhile are missing in the copy, and objects added meanwhile do no harm.
    return _copy_objects(objects, target / "objects")


def _database(settings: Settings) -> Path:
    path = sqlite_file(settings)
    if path is None:
        raise SetupError("The database is PostgreSQL: back it up by pg_dump (docs/backup.md).")
    if not path.is_file():
        raise SetupError(f"There is no database at {path}. Name the service's data directory with --data.")
    return path


def _copy_objects(source: Path, target: Path) -> int:
    """Copy file by file, without files that are deleted meanwhile. Return the number of copied files."""
    count = 0
    for folder, _, names in os.walk(source, onerror=_unless_gone):
        destination = target / Path(folder).relative_to(source)
        destination.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(Path(folder, name), destination / name)
                count += 1
    return count


def _unless_gone(error: OSError) -> None:
    """Raise a walk's error unless the folder is gone: a folder that cannot be read would be missing in the copy."""
    if not isinstance(error, FileNotFoundError):
        raise error
