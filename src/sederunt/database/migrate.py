"""Brings a database to the newest schema, one process at a time.

Alembic is imported only when there is something to do: it costs every start half a second. That is done before the
lock is taken: on SQLite it keeps every writer out, and they wait only so long.
"""

from importlib import import_module
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from sederunt.errors import SetupError

NEWEST = "0012"  # the last revision in migrations/versions; a test compares

_LOCK = 0x5EDE_0001  # any number, the same in every process


def is_newest(connection: Connection) -> bool:
    """Return whether there is nothing to do."""
    return _revision(connection) == NEWEST


def import_alembic() -> None:
    """Have at hand what `to_newest` needs where there is something to do."""
    import_module("alembic.command")


def to_newest(connection: Connection) -> None:
    """Migrate inside the caller's transaction. Raises SetupError when the database is newer than this program."""
    if connection.dialect.name == "postgresql":
        # Held until the commit. On SQLite the transaction itself is the lock.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    found = _revision(connection)
    if found == NEWEST:
        return
    if found is not None and found > NEWEST:
        raise SetupError(f"This database is at schema {found}, newer than this program's {NEWEST}: upgrade Sederunt.")
    upgrade(connection, "head")


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
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
