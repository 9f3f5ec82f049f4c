"""Brings a database to the newest schema, one process at a time.

A program also works with a schema that is newer than its own where every migration in between says so (`keeps_older`):
while an installation is upgraded, processes of the release before may be started beside those of the new one.

Alembic is imported only when there is something to do: it costs every start half a second. That is done before the
lock is taken: on SQLite it keeps every writer out, and they wait only so long.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, delete, insert, inspect, select, text

from sederunt.database.tables import oldest_program
from sederunt.errors import SetupError

NEWEST = "0016"  # the last revision in migrations/versions; a test compares

_MIGRATIONS = str(Path(__file__).parent / "migrations")
_LOCK = 0x5EDE_0001  # any number, the same in every process


def is_fit(connection: Connection) -> bool:
    """Return whether there is nothing to do: the schema is the newest that we know, or one that is newer and says that
    we work with it.
    """
    found = _revision(connection)
    return found == NEWEST or (found is not None and found > NEWEST and _oldest(connection, found) <= NEWEST)


def import_alembic() -> None:
    """Have at hand what `to_newest` needs where there is something to do."""
    import_module("alembic.command")


def to_newest(connection: Connection) -> None:
    """Migrate inside the caller's transaction. Raises SetupError when the database is newer than this program."""
    if connection.dialect.name == "postgresql":
        # Held until the commit. On SQLite the transaction itself is the lock.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if is_fit(connection):
        return
    found = _revision(connection)
    if found is not None and found > NEWEST:
        raise SetupError(
            f"This database is at schema {found}, which programs older than {_oldest(connection, found)} cannot use, "
            f"and this program is of {NEWEST}: upgrade Sederunt, or restore the backup of before the upgrade."
        )
    upgrade(connection, "head")
    connection.execute(delete(oldest_program))
    connection.execute(insert(oldest_program).values(revision=oldest_of(_chain())))


def oldest_of(chain: Iterable[tuple[str, bool]]) -> str:
    """Return the oldest schema whose programs work with the newest one. Pure.

    Args:
        chain: each migration and whether programs of the schema before go on working with it, newest first.
    """
    for revision, keeps_older in chain:
        if not keeps_older:
            return revision
    return ""


def _chain() -> Iterator[tuple[str, bool]]:
    from alembic.script import ScriptDirectory

    for script in ScriptDirectory(_MIGRATIONS).walk_revisions():
        yield script.revision, getattr(script.module, "keeps_older", False)


def _oldest(connection: Connection, found: str) -> str:
    """Return what a newer program left word of; its own schema where it left none."""
    if not inspect(connection).has_table(oldest_program.name):
        return found
    return connection.scalar(select(oldest_program.c.revision)) or found


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def upgrade(connection: Connection, revision: str) -> None:
    """Run the migrations up to a revision, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", _MIGRATIONS)
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
