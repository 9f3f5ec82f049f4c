"""The database as one object: it opens and migrates itself, and provides write transactions and prepared reads."""

import asyncio
import importlib.util
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal
from urllib.parse import unquote
from uuid import UUID

from sqlalchemy import Connection, Executable, event, select, text
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from sederunt.clock import SYSTEM_CLOCK, Clock
from sederunt.database import migrate
from sederunt.database.default_account import ensure_default_account
from sederunt.database.outage import OutageReport
from sederunt.database.queries import PostgresDriver, Query, SqlDriver, SqliteDriver
from sederunt.errors import SetupError
from sederunt.settings import Settings

# How long a writer waits for another process. Transactions take milliseconds; `serve` ends a process that froze inside
# one within ten seconds, and a PostgreSQL server ends the frozen transaction.
_BUSY_S = 15.0
_IDLE_S = 10.0  # how long PostgreSQL waits for the next statement of a transaction; migrations never pause
# How long we wait for PostgreSQL: longer than it takes to free the rows of a frozen client. A server that hangs or lost
# its power stays silent until TCP gives up, after a quarter of an hour.
_CONNECT_S = 10.0
_ANSWER_S = 20.0
_PID_LOOKS = 3  # another client may interfere in each
_NEEDS_SESSIONS = (
    "The database's address leads to a pooler that lends a connection for one transaction, such as PgBouncer with "
    "pool_mode=transaction, and prepared statements need the same one: give PostgreSQL's own address, or set "
    "pool_mode=session."
)
_TURN_S = 0.02  # between two tries of what SQLite does not wait for itself
_WAL = "PRAGMA journal_mode = WAL"  # readers and the writer do not wait for each other

# For each connection to SQLite.
_SQLITE_PRAGMAS = (
    f"PRAGMA busy_timeout = {_BUSY_S * 1000:.0f}",
    _WAL,
    # FULL: data acknowledged with 200 survives a power cut. Costs one fsync per transaction (0.2 to 2 ms, in a thread);
    # we write some ten transactions per bot and minute.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = 1",
    "PRAGMA secure_delete = 1",  # overwrites deleted data
)
_LOG_S = 2.0  # how long emptying the write-ahead log waits for readers, and writers wait for it


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxRow:
    """A message for other processes: work for a queue, an event for a feed, a webhook to deliver."""

    id: int
    kind: Literal["job", "feed", "deliver"]
    subject: str
    payload: bytes  # JSON
    message_id: str  # the bus drops a repeat with the same one


def database_url(settings: Settings) -> str | URL:
    """Return the address of the database: from the settings, else a file in the data directory."""
    return settings.database.url or URL.create("sqlite+aiosqlite", database=str(database_file(settings.data)))


def database_file(data: Path) -> Path:
    """Return the SQLite file of a data directory."""
    file = data.resolve() / "sederunt.db"
    # Until 2026-11 the path was parsed as a URL: the file of `a%20b` lay in `a b`, that of `a?b` was called `a`.
    legacy_file = Path(unquote(str(file).partition("?")[0]))
    return legacy_file if legacy_file.is_file() and not file.exists() else file


def sqlite_file(settings: Settings) -> Path | None:
    """Return the file of a SQLite database; None for another engine. Raises SetupError for an unsupported one."""
    url = normalised(database_url(settings))
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


def normalised(address: str | URL) -> URL:
    """Return the address with the driver we use. Raises SetupError for an unsupported engine."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # their messages would repeat the password
        raise SetupError("SEDERUNT_DATABASE__URL is no address: give sqlite:////… or postgresql://….") from None
    match url.get_backend_name():
        case "sqlite":
            if not url.database or url.database == ":memory:":
                raise SetupError("A SQLite database needs a file: sqlite:////path/to/sederunt.db")
            return url.set(drivername="sqlite+aiosqlite")
        case "postgresql" | "postgres":
            if importlib.util.find_spec("asyncpg") is None:
                raise SetupError("PostgreSQL needs one more package: pip install 'sederunt[postgres]'")
            return _as_asyncpg(url)
        case backend:
            raise SetupError(f"'{backend}' is not a database we know: give sqlite:///… or postgresql://…")


# Parameters of PostgreSQL addresses → their names in asyncpg; None: not passed on, decided elsewhere.
_WORDS: Mapping[str, str | None] = {
    **{word: word for word in ("host", "port", "ssl", "passfile", "target_session_attrs", "krbsrvname", "gsslib")},
    "sslmode": "ssl",
    "application_name": None,
    "connect_timeout": None,
    "channel_binding": None,
}


def _as_asyncpg(url: URL) -> URL:
    """Return an operator's PostgreSQL address in the form that asyncpg accepts. Raises SetupError."""
    if unknown_words := sorted(set(url.query) - set(_WORDS)):
        sentence = (
            f"SEDERUNT_DATABASE__URL says '{unknown_words[0]}', which is not known here: expected {', '.join(_WORDS)}."
        )
        raise SetupError(sentence)
    query = {parameter: value for word, value in url.query.items() if (parameter := _WORDS[word]) is not None}
    return url.set(drivername="postgresql+asyncpg", query=query)


class Database:
    """One database, as one process sees it.

    `on_outbox` is called after each commit with the outbox rows it wrote, so that they are published at once.
    `Outbox.unsent` finds rows that were not.
    """

    default_account_id: UUID  # known once open

    def __init__(
        self,
        url: str | URL,
        *,
        clock: Clock = SYSTEM_CLOCK,
        on_outbox: Callable[[Sequence[OutboxRow]], None] | None = None,
    ) -> None:
        self.url = normalised(url)
        self.clock = clock
        self.on_outbox = on_outbox
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        # SQLite allows one writer at a time; waiting for each other here is fairer than its polling.
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if self.is_sqlite else nullcontext()
        self._engine = _sqlite_engine(self.url) if self.is_sqlite else _postgres_engine(self.url, answer_s=_ANSWER_S)
        self._driver: SqlDriver | None = None
        self._outage = OutageReport(clock)

    async def open(self) -> None:
        """Open the database: create what is missing, migrate, make the default account. Safe for several processes at
        once.
        """
        try:
            if self.is_sqlite:
                await asyncio.to_thread(_look_at_file, Path(self.url.database or ""))
            elif await self._shares_sessions():
                raise SetupError(_NEEDS_SESSIONS)
            async with self.begin() as connection:
                is_fit = await connection.run_sync(migrate.is_fit)
            if not is_fit:
                await asyncio.to_thread(migrate.import_alembic)
            async with self._begin_long() as connection:
                await connection.run_sync(migrate.to_newest)
                self.default_account_id = await ensure_default_account(connection, self.clock.now())
            self._driver = await self._open_driver()
        except (OSError, sqlite3.Error, DBAPIError) as error:
            await self.close()
            raise SetupError(f"The database {self._shown} cannot be opened: {_reason(error)}.") from error

    async def adopt(self) -> bool:
        """Mark a database from before 0.1.0 as this program's, without opening it: see `migrate.adopt`."""
        async with self.begin() as connection:
            return await connection.run_sync(migrate.adopt)

    async def close(self) -> None:
        """Give every connection back; prepared queries fail afterwards."""
        if self._driver is not None:
            await self._driver.close()
            self._driver = None
        await self._engine.dispose()

    async def __aenter__(self) -> "Database":
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Provide a write transaction: committed at the end of the block, rolled back by an exception."""
        with self._outage.watch("write"):
            async with self._turn, self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def _begin_long(self) -> AsyncIterator[AsyncConnection]:
        """Provide a transaction whose statements may take any time."""
        if self.is_sqlite:
            async with self.begin() as connection:
                yield connection
            return
        engine = _postgres_engine(self.url, answer_s=None)
        try:
            async with engine.begin() as connection:
                yield connection
        finally:
            await engine.dispose()

    async def time_s(self, connection: AsyncConnection) -> float | None:
        """Return the database's time in Unix seconds; None if it has no clock of its own."""
        if self.is_sqlite:
            return None
        return float(await connection.scalar(select(text("extract(epoch from clock_timestamp())"))) or 0)

    def query(self, statement: Executable) -> Query:
        """Return a read, compiled once. Values that change are `bindparam`s without expansion."""
        return Query(statement, self._engine.dialect, self._reader, partial(self._outage.watch, "read"))

    async def empty_log(self) -> bool:
        """Move the content of SQLite's write-ahead log into the file, and leave no old page in the log.

        False if readers were in the way; True with PostgreSQL, which tidies up by itself.
        """
        if not self.is_sqlite:
            return True
        async with self._turn:
            return await asyncio.to_thread(_empty_log, Path(self.url.database or ""))

    def announce(self, rows: Sequence[OutboxRow]) -> None:
        """Tell this process's publisher what was committed."""
        if rows and self.on_outbox is not None:
            self.on_outbox(rows)

    @property
    def _shown(self) -> str:
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)

    def _reader(self) -> SqlDriver:
        if self._driver is None:
            raise SetupError("The database is not open.")
        return self._driver

    async def _shares_sessions(self) -> bool:
        """Return whether a pooler lends one server connection to several clients in turn, as PgBouncer does in its mode
        `transaction`.
        """
        import asyncpg

        _, parameters = self._engine.dialect.create_connect_args(self.url)
        parameters = {**parameters, **_waits(_CONNECT_S), "statement_cache_size": 0}
        try:
            async with (
                asyncpg.create_pool(**parameters, min_size=2, max_size=2) as pool,
                pool.acquire() as first,
                pool.acquire() as second,
            ):
                # A connected client keeps its server process for itself, unless a pooler lends it on.
                pids = [await _server_pid(client) for _ in range(_PID_LOOKS) for client in (first, second)]
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return False  # the next attempt to open it says why
        return any(first == second for first, second in pairwise(pids))

    async def _open_driver(self) -> SqlDriver:
        if self.is_sqlite:
            return SqliteDriver(Path(self.url.database or ""))
        _, parameters = self._engine.dialect.create_connect_args(self.url)
        return await PostgresDriver.open({**parameters, **_waits(_ANSWER_S)})


async def _server_pid(client: Any) -> int:
    async with client.transaction():
        return int(await client.fetchval("SELECT pg_backend_pid()"))


def _reason(error: OSError | sqlite3.Error | DBAPIError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error.orig if isinstance(error, DBAPIError) else error).rstrip(".")


def _look_at_file(path: Path) -> None:
    """Raise if the file cannot be opened: a connection of the asynchronous driver that fails ends in a thread's
    traceback.

    Switches a fresh file to its write-ahead log. Raises OSError, sqlite3.Error.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    deadline = monotonic() + _BUSY_S
    with closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection:
        while not _is_switched(connection, may_be_busy=monotonic() < deadline):
            sleep(_TURN_S)


def _is_switched(connection: sqlite3.Connection, *, may_be_busy: bool) -> bool:
    try:
        connection.execute(_WAL)
    except sqlite3.OperationalError as error:
        # SQLite does not wait for this lock: two connections that both switch might wait for each other.
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY and may_be_busy:
            return False
        raise
    return True


def _sqlite_engine(url: URL) -> AsyncEngine:
    engine = create_async_engine(url, pool_size=1, max_overflow=0, hide_parameters=True)
    file = Path(url.database or "")
    event.listen(engine.sync_engine, "connect", partial(_prepare_sqlite, file))
    event.listen(engine.sync_engine, "begin", partial(_begin_at_once, file))
    return engine


def _prepare_sqlite(file: Path, connection: Any, record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, because the driver omits it for schema changes
    cursor = connection.cursor()
    for pragma in _SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
    record.info["file"] = _identity(file)


def _identity(file: Path) -> tuple[int, int] | None:
    """Return the file's device and inode; None if there is no file."""
    try:
        file_stat = file.stat()
    except FileNotFoundError:
        return None
    return file_stat.st_dev, file_stat.st_ino


def _empty_log(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=_LOG_S)) as connection:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _begin_at_once(file: Path, connection: Connection) -> None:
    # SQLite keeps using a deleted file, and acknowledged data would be lost with this process.
    if _identity(file) != connection.info["file"]:
        error = sqlite3.OperationalError(f"{file} was moved or deleted while it is in use: put it back, or restart")
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
        raise error
    # A deferred transaction that reads first and writes later fails at once if another process wrote in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _postgres_engine(url: URL, *, answer_s: float | None) -> AsyncEngine:
    engine = create_async_engine(
        url, pool_size=5, max_overflow=10, pool_pre_ping=True, hide_parameters=True, connect_args=_waits(answer_s)
    )
    event.listen(engine.sync_engine, "connect", _prepare_postgres)
    event.listen(engine.sync_engine, "handle_error", _give_up_silent)
    return engine


def _waits(answer_s: float | None) -> dict[str, float | None]:
    """Return asyncpg's timeouts for a connection and for each answer."""
    return {"timeout": _CONNECT_S, "command_timeout": answer_s}


def _give_up_silent(context: ExceptionContext) -> None:
    # A rollback would be one more request that gets no answer.
    if isinstance(context.original_exception, TimeoutError):
        context.is_disconnect = True


def _prepare_postgres(connection: Any, _record: object) -> None:
    # Frees the rows of a client soon after it froze or its machine lost power.
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE_S * 1000:.0f}ms'")
    cursor.close()
    connection.commit()
