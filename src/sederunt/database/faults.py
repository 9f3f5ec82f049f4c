"""Which errors mean that the database is currently unreachable or unusable, whatever driver raises them."""

import sqlite3

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

# Locked for longer than a writer waits, moved or deleted while in use, on a failing disk, or impossible to open.
_SQLITE_AWAY = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
# Connection exceptions, insufficient resources (too many connections), the server shutting down or starting, a
# transaction that the server ended because this process was idle in it.
_POSTGRES_AWAY = ("08", "53", "57P", "25P03")
_CLIENT_AWAY = frozenset({"InterfaceError", "InternalClientError"})  # of asyncpg: "connection is closed"


def is_away(error: BaseException) -> bool:
    """Return whether this error, regardless of its cause, says that the database is away for now."""
    if isinstance(error, sqlite3.Error):
        return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_AWAY
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or (error.orig is not None and is_away(error.orig))
    if isinstance(error, PoolTimeout):
        return True
    code = getattr(error, "sqlstate", None)
    if isinstance(code, str):
        return code.startswith(_POSTGRES_AWAY)
    return type(error).__module__.startswith("asyncpg") and type(error).__name__ in _CLIENT_AWAY
