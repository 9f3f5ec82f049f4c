"""Prepared reads: a SQLAlchemy statement compiled once, run by the bare driver.

Measured on this path, per point read of one bot: SQLAlchemy over aiosqlite some 700 µs of CPU, the same statement
inline some 60 µs. The API's budget for a whole request is 500 µs.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import BindParameter, Dialect, Executable, Uuid, bindparam
from sqlalchemy.sql.compiler import SQLCompiler

Row = dict[str, Any]
_Convert = Callable[[Any], Any]
_RowOf = Callable[[Sequence[Any]], Row]

_TURN_S = 20.0  # how long a read waits for one of PostgreSQL's connections
_CLOSE_S = 5.0  # how long running reads may take when the driver closes


def id_parameter(name: str) -> BindParameter[UUID]:
    """Return a statement's parameter that takes an id."""
    return bindparam(name, type_=Uuid())


class SqlDriver(Protocol):
    """How one engine runs compiled SQL."""

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]: ...

    async def fetch_aside(self, sql: str, arguments: Sequence[Any], row_of: _RowOf) -> list[Row]:
        """Read and convert rows while others are served."""

    async def close(self) -> None: ...


class _Compiled:
    """A statement in the form that a driver takes."""

    def __init__(self, statement: Executable, dialect: Dialect) -> None:
        compiler = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        assert isinstance(compiler, SQLCompiler)
        self.sql = compiler.string
        self.arguments = [self._argument(compiler, name, dialect) for name in compiler.positiontup or ()]
        columns = list(statement.selected_columns)  # type: ignore[attr-defined]
        self.names = [column.key for column in columns]
        converters = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        self.converters = [(index, convert) for index, convert in enumerate(converters) if convert is not None]

    @staticmethod
    def _argument(compiler: SQLCompiler, name: str, dialect: Dialect) -> tuple[str, Any, _Convert | None]:
        """Return (name, its value if the statement itself gives one, its converter for the driver)."""
        bind = compiler.binds[name]
        return name, bind.effective_value, bind.type.dialect_impl(dialect).bind_processor(dialect)


class Query:
    """One statement. Parameters are given by name; rows are dicts with the columns' own Python types.

    Compiled at its first run: a process has nearly a hundred, and each role runs only some.

    Args:
        watch: entered for each read.
    """

    def __init__(
        self,
        statement: Executable,
        dialect: Dialect,
        driver: Callable[[], SqlDriver],
        watch: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._compile = partial(_Compiled, statement, dialect)
        self._driver, self._watch = driver, watch

    @cached_property
    def _compiled(self) -> _Compiled:
        return self._compile()

    @property
    def sql(self) -> str:
        return self._compiled.sql

    async def all(self, **parameters: Any) -> list[Row]:
        """Return every row."""
        with self._watch():
            raw_rows = await self._driver().fetch(self.sql, self._arguments(parameters))
        return [self._row(values) for values in raw_rows]

    async def all_aside(self, **parameters: Any) -> list[Row]:
        """Return every row, as `all` does, while others are served: for large results and long searches."""
        with self._watch():
            return await self._driver().fetch_aside(self.sql, self._arguments(parameters), self._row)

    async def first(self, **parameters: Any) -> Row | None:
        """Return the first row, or None."""
        rows = await self.all(**parameters)
        return rows[0] if rows else None

    def _arguments(self, parameters: Mapping[str, Any]) -> list[Any]:
        arguments = []
        for name, default, convert in self._compiled.arguments:
            value = parameters.get(name, default)
            arguments.append(convert(value) if convert is not None and value is not None else value)
        return arguments

    def _row(self, values: Sequence[Any]) -> Row:
        row = list(values)
        for index, convert in self._compiled.converters:
            if row[index] is not None:
                row[index] = convert(row[index])
        return dict(zip(self._compiled.names, row, strict=True))


class SqliteDriver:
    """Read-only connections of this process: WAL readers never wait for a writer. One is called inline, some others in
    threads, so that the event loop and short reads go on meanwhile.
    """

    _MOST_ASIDE = 4  # connections

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = _reading(path)
        self._places = asyncio.Semaphore(self._MOST_ASIDE)
        self._idle: list[sqlite3.Connection] = []

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        return self._connection.execute(sql, arguments).fetchall()

    async def fetch_aside(self, sql: str, arguments: Sequence[Any], row_of: _RowOf) -> list[Row]:
        async with self._places:
            return await asyncio.to_thread(self._fetch_aside, sql, arguments, row_of)

    def _fetch_aside(self, sql: str, arguments: Sequence[Any], row_of: _RowOf) -> list[Row]:
        connection = self._idle.pop() if self._idle else _reading(self._path)
        try:
            return [row_of(values) for values in connection.execute(sql, arguments)]
        finally:
            self._idle.append(connection)

    async def close(self) -> None:
        for _ in range(self._MOST_ASIDE):  # a thread cannot be ended, so wait for its read
            await self._places.acquire()
        for connection in (*self._idle, self._connection):
            connection.close()


def _reading(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA busy_timeout = 5000")
    return connection


class PostgresDriver:
    """A small asyncpg pool for reads, beside the pool that writes."""

    _MOST = 8  # connections

    def __init__(self, pool: Any, connection_errors: tuple[type[BaseException], ...]) -> None:
        self._pool = pool  # an asyncpg.Pool; the package is an extra and brings no types
        self._lost = connection_errors

    @classmethod
    async def open(cls, parameters: Mapping[str, Any]) -> "PostgresDriver":
        """Connect. `parameters` are those of asyncpg.connect."""
        import asyncpg  # an extra; without it `engine` has already said so

        connection_errors = (
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,  # the server is being shut down
            OSError,
        )
        return cls(await asyncpg.create_pool(**parameters, min_size=1, max_size=cls._MOST), connection_errors)

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        # After a restart of the server every connection of the pool may be dead; a read can be repeated.
        for _ in range(self._MOST):
            try:
                return await self._fetch_once(sql, arguments)
            except TimeoutError:  # a kind of OSError; the other connections would time out, too
                raise
            except self._lost:
                continue
        return await self._fetch_once(sql, arguments)

    async def fetch_aside(self, sql: str, arguments: Sequence[Any], row_of: _RowOf) -> list[Row]:
        raw_rows = await self.fetch(sql, arguments)
        return await asyncio.to_thread(lambda: [row_of(values) for values in raw_rows])

    async def _fetch_once(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        async with self._pool.acquire(timeout=_TURN_S) as connection:
            try:
                rows: Sequence[Sequence[Any]] = await connection.fetch(sql, *arguments)
            except self._lost:
                connection.terminate()  # the pool replaces it
                raise
            return rows

    async def close(self) -> None:
        try:
            await asyncio.wait_for(self._pool.close(), _CLOSE_S)
        except TimeoutError:
            self._pool.terminate()
