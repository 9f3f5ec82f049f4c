"""Brings a database to the newest schema, one process at a time.

A program also works with a schema that is newer than its own if every migration in between says so (`keeps_older`):
during an upgrade, processes of the previous release may start beside those of the new one.

Alembic is imported only if there is something to do, because it costs half a second at each start. It is imported
before the lock is taken: on SQLite the lock keeps every writer out, and writers wait only for a limited time.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, delete, insert, inspect, select, text

from sederunt.database.tables import oldest_program
from sederunt.errors import SetupError

FIRST = "v0001"  # the schema of 0.1.0
NEWEST = "v0004"  # the last revision in migrations/versions; a test compares
# Revisions before 0.1.0 were bare numbers, which sort before FIRST. The last one made the same schema.
LAST_BEFORE_RELEASE = "0016"

_MIGRATIONS = str(Path(__file__).parent / "migrations")
_LOCK = 0x5EDE_0001  # any number, the same in every process


def is_fit(connection: Connection) -> bool:
    """Return whether there is nothing to do: the schema is the newest that we know, or a newer one that declares itself
    compatible with this program.
    """
    revision = _revision(connection)
    return revision == NEWEST or (
        revision is not None and revision > NEWEST and _oldest_program(connection, revision) <= NEWEST
    )


def import_alembic() -> None:
    """Import Alembic in advance for `to_newest`."""
    import_module("alembic.command")


def to_newest(connection: Connection) -> None:
    """Migrate inside the caller's transaction. Raises SetupError if the database is newer than this program, or from
    before the first release.
    """
    _lock(connection)
    if is_fit(connection):
        return
    revision = _revision(connection)
    if revision is not None and revision > NEWEST:
        raise SetupError(
            f"This database is at schema {revision}, which programs older than {_oldest_program(connection, revision)} "
            f"cannot use, and this program is of {NEWEST}: upgrade Sederunt, or restore the backup of before the "
            "upgrade."
        )
    if revision is not None and revision < FIRST:
        raise SetupError(_way_from_before_release(revision))
    upgrade(connection, "head")
    applied_migrations = (
        (applied_revision, keeps_older)
        for applied_revision, keeps_older in _chain()
        if revision is None or applied_revision > revision
    )
    if oldest := oldest_of(applied_migrations):
        connection.execute(delete(oldest_program))
        connection.execute(insert(oldest_program).values(revision=oldest))


def adopt(connection: Connection) -> bool:
    """Mark a database of the last program before 0.1.0 as one of the first release's schema, which is the same.

    Older programs keep working with it. Returns False if the database is one of a release already. Raises SetupError if
    it is older still, or empty.
    """
    _lock(connection)
    revision = _revision(connection)
    if revision is None:
        raise SetupError("There is nothing to adopt: this database is empty.")
    if revision >= FIRST:
        return False
    if revision != LAST_BEFORE_RELEASE:
        raise SetupError(_way_from_before_release(revision))
    connection.execute(text("UPDATE alembic_version SET version_num = :first"), {"first": FIRST})
    return True


def _way_from_before_release(revision: str) -> str:
    if revision == LAST_BEFORE_RELEASE:
        return "This database is from before version 0.1.0: run `sederunt adopt` on it once, then start again."
    return (
        f"This database is at schema {revision}, from long before version 0.1.0: start the last program from before it "
        "once on this database (commit f07fa56c of 27 November 2026), then run `sederunt adopt`."
    )


def _lock(connection: Connection) -> None:
    """Keep other processes from migrating until the caller's transaction ends."""
    if connection.dialect.name == "postgresql":  # on SQLite the transaction itself is the lock
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def oldest_of(chain: Iterable[tuple[str, bool]]) -> str:
    """Return the oldest schema whose programs work with the newest one; "" if all older ones do. Pure.

    Args:
        chain: each migration and whether programs of the previous schema keep working with it, newest first.
    """
    for revision, keeps_older in chain:
        if not keeps_older:
            return revision
    return ""


def _chain() -> Iterator[tuple[str, bool]]:
    from alembic.script import ScriptDirectory

    for script in ScriptDirectory(_MIGRATIONS).walk_revisions():
        yield script.revision, getattr(script.module, "keeps_older", False)


def _oldest_program(connection: Connection, revision: str) -> str:
    """Return the schema of the oldest program that works with a newer one; the newer one itself if none is noted."""
    if not inspect(connection).has_table(oldest_program.name):
        return revision
    return connection.scalar(select(oldest_program.c.revision)) or revision


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
