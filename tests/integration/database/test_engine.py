"""Opening: the default account, several processes at once, transactions."""

import asyncio
import json
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import structlog
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from harness.fake_clock import FakeClock
from harness.postgres import PostgresServer
from sederunt import log
from sederunt.clock import SYSTEM_CLOCK
from sederunt.database import engine, migrate
from sederunt.database.engine import Database
from sederunt.database.faults import is_away
from sederunt.database.ids import new_id
from sederunt.database.tables import accounts
from sederunt.errors import SetupError

_OPENS = """
import asyncio, json, sys
from sederunt.database.engine import Database

async def main():
    async with Database(sys.argv[1]) as database:
        print(json.dumps(str(database.default_account_id)))

asyncio.run(main())
"""


# Is told by a traceback when Alembic is imported while somebody who wants to write would have to wait.
_WATCHES = """
import asyncio, sqlite3, sys
from contextlib import closing
from sederunt.database.engine import Database

path = sys.argv[1]

class Watch:
    def find_spec(self, name, *_):
        if name == "alembic":
            with closing(sqlite3.connect(path, timeout=0)) as another:
                another.execute("BEGIN IMMEDIATE")
            print("seen")

sys.meta_path.insert(0, Watch())
asyncio.run(Database(f"sqlite:///{path}").open())
"""


async def test_a_statement_that_fails_logs_nothing_of_its_row(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither SQLAlchemy's parameters nor the row that PostgreSQL repeats, over however many lines."""
    log.configure()
    now = SYSTEM_CLOCK.now()
    row = {"id": new_id(now), "name": "the Aberdeen acquisition\nand\nits price", "created_at": now}
    again, incomplete = {**row, "id": new_id(now)}, {**row, "id": new_id(now), "created_at": None}
    try:
        async with Database(address) as database:
            async with database.begin() as connection:
                await connection.execute(insert(accounts).values(**row))
            for refused in (again, incomplete):
                with pytest.raises(IntegrityError) as refusal:
                    async with database.begin() as connection:
                        await connection.execute(insert(accounts).values(**refused))
                log.get().error("refused", action="refused", error=str(refusal.value), exc_info=refusal.value)
    finally:
        structlog.reset_defaults()
    logged = capsys.readouterr().err
    assert logged.count('"action": "refused"') == 2
    assert "Aberdeen" not in logged
    assert "price" not in logged


async def test_several_processes_that_start_at_once_agree(empty_address: str) -> None:
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", _OPENS, empty_address, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(4)
    ]
    said = [(await child.communicate())[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    assert len({json.loads(line) for line in said}) == 1


async def test_a_file_that_another_process_is_just_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sederunt.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as another:
        another.execute("BEGIN IMMEDIATE")
        waited: list[float] = []

        def wait(seconds: float) -> None:
            waited.append(seconds)
            another.rollback()

        monkeypatch.setattr(engine, "sleep", wait)
        async with Database(f"sqlite:///{path}") as database:
            assert await _count(database) == 1
    assert waited, "the lock was in its way"
    with closing(sqlite3.connect(path)) as looking:
        assert looking.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_nobody_waits_while_the_means_of_a_migration_are_fetched(tmp_path: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _WATCHES, str(tmp_path / "sederunt.db"), stdout=asyncio.subprocess.PIPE
    )
    assert ((await child.communicate())[0], child.returncode) == (b"seen\n", 0)


async def test_opening_again_keeps_what_is_there(address: str, clock: FakeClock) -> None:
    async with Database(address, clock=clock) as first:
        known = first.default_account_id
    async with Database(address, clock=clock) as second:
        assert second.default_account_id == known


async def test_a_database_of_a_newer_program_is_refused(empty_address: str) -> None:
    async with Database(empty_address) as database, database.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
        await connection.execute(text("UPDATE oldest_program SET revision = 'v9998'"))
    refusal = f"schema v9999, which programs older than v9998.*of {migrate.NEWEST}: upgrade"
    with pytest.raises(SetupError, match=refusal):
        await Database(empty_address).open()


async def test_a_newer_database_that_bears_older_programs_is_opened_as_it_is(empty_address: str) -> None:
    async with Database(empty_address) as database, database.begin() as connection:
        assert await connection.scalar(text("SELECT revision FROM oldest_program")) <= migrate.NEWEST
        await connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
        await connection.execute(text(f"UPDATE oldest_program SET revision = '{migrate.NEWEST}'"))
    async with Database(empty_address) as database, database.begin() as connection:
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == "v9999"


async def test_an_exception_undoes_the_transaction(database: Database) -> None:
    async def half() -> None:
        async with database.begin() as connection:
            await _add_account(connection, database, "half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await half()
    assert await _count(database) == 1


async def test_what_is_committed_is_read_at_once(database: Database) -> None:
    async with database.begin() as connection:
        await _add_account(connection, database, "second")
    assert await _count(database) == 2


async def test_writers_wait_for_each_other(address: str, database: Database) -> None:
    async with Database(address) as other:

        async def write(through: Database, name: str) -> None:
            async with through.begin() as connection:
                await connection.execute(select(func.count()).select_from(accounts))
                await _add_account(connection, through, name)

        writes = [write(through, f"{n}-{k}") for n in range(10) for k, through in enumerate((database, other))]
        await asyncio.gather(*writes)
    assert await _count(database) == 21


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/x.db")
    await database.open()
    counting = database.query(select(func.count().label("n")).select_from(accounts))
    await database.close()
    with pytest.raises(SetupError, match="not open"):
        await counting.first()


async def _add_account(connection: object, database: Database, name: str) -> None:
    now = database.clock.now()
    await connection.execute(insert(accounts).values(id=new_id(now), name=name, created_at=now))  # type: ignore[attr-defined]


async def _count(database: Database) -> int:
    row = await database.query(select(func.count().label("n")).select_from(accounts)).first()
    assert row is not None
    return int(row["n"])


async def test_connections_that_the_server_dropped_are_replaced(postgres: PostgresServer) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    async with Database(postgres.fresh_database()) as database:
        assert await _count(database) == 1
        async with database.begin() as connection:
            await connection.execute(text(others + "pg_backend_pid()"))
        async with database.begin() as connection:
            await _add_account(connection, database, "second")
        assert await _count(database) == 2


# Locks every row of the accounts and stops, as a process does whose machine is frozen, cut off or without power.
_STOPS = """
import asyncio, os, signal, sys
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sederunt import log
from sederunt.database import engine, migrate
from sederunt.database.faults import is_away

log.configure()  # to standard error: what is read here is standard output
engine._IDLE_S = 0.5

async def main():
    async with engine.Database(sys.argv[1]) as database:
        try:
            async with database.begin() as connection:
                await connection.execute(text("UPDATE accounts SET name = 'frozen'"))
                print("stops", flush=True)
                os.kill(os.getpid(), signal.SIGSTOP)
        except DBAPIError as error:
            print("away" if is_away(error) else repr(error), flush=True)

asyncio.run(main())
"""


async def test_rows_that_a_frozen_client_locked_are_free_again_and_it_is_told(postgres: PostgresServer) -> None:
    address = postgres.fresh_database()
    async with Database(address) as database:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _STOPS, address, stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        assert await child.stdout.readline() == b"stops\n"
        async with database.begin() as connection:
            await connection.execute(text("UPDATE accounts SET name = 'awake'"))
        child.send_signal(signal.SIGCONT)
        assert ((await child.communicate())[0], child.returncode) == (b"away\n", 0)
        assert await database.query(select(accounts.c.name)).all() == [{"name": "awake"}]


async def test_a_postgres_that_stands_still_is_given_up_and_asked_again_when_it_goes_on(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen, or without power: TCP would believe in it for a quarter of an hour, and so would every caller."""
    name, _, folder = postgres.fresh_database().partition("@/")[2].partition("?host=")
    monkeypatch.setattr(engine, "_ANSWER_S", 1.0)
    monkeypatch.setattr(engine, "_CONNECT_S", 1.0)
    address = f"postgresql+asyncpg://sederunt@/{name}?host={tmp_path}"
    line = lines_to(f"{folder}/.s.PGSQL.5432", tmp_path / ".s.PGSQL.5432")
    async with asyncio.timeout(120), line as awake, Database(address) as database:
        named = database.query(select(accounts.c.name))
        before = await named.all()
        with pytest.raises(TimeoutError):
            await renamed(database, "lost", awake.clear)
        with pytest.raises(TimeoutError):
            await named.all()
        with pytest.raises(TimeoutError):
            await renamed(database, "lost")
        awake.set()
        assert await named.all() == before
        await renamed(database, "there again")
        assert await named.all() == [{"name": "there again"}]


async def renamed(database: Database, name: str, begun: Callable[[], None] = lambda: None) -> None:
    async with database.begin() as connection:
        begun()
        await connection.execute(update(accounts).values(name=name))


@asynccontextmanager
async def lines_to(server: str, here: Path) -> AsyncIterator[asyncio.Event]:
    """Pass on what is said on a socket of our own to a server's and back, for as long as the event is set."""
    awake, passing = asyncio.Event(), set()
    awake.set()

    async def pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while said := await source.read(65536):
            await awake.wait()
            target.write(said)
        target.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(server)
        for source, target in ((reader, forth), (back, writer)):
            passing.add(asyncio.create_task(pass_on(source, target)))

    async with await asyncio.start_unix_server(connected, here):
        yield awake
        for task in passing:
            task.cancel()


async def test_a_statement_that_fails_does_not_tell_its_values(empty_address: str) -> None:
    async with Database(empty_address) as database:
        row = {"id": database.default_account_id, "name": "planted-secret", "created_at": database.clock.now()}
        with pytest.raises(IntegrityError) as caught:
            async with database.begin() as connection:
                await connection.execute(insert(accounts).values(**row))
    assert "planted-secret" not in str(caught.value)


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_nothing_is_written_into_a_file_that_was_deleted_under_us(tmp_path: Path, is_replaced: bool) -> None:
    path, away = tmp_path / "s.db", tmp_path / "away.db"
    async with Database(f"sqlite:///{path}") as database:
        path.rename(away)
        if is_replaced:
            path.touch()
        with pytest.raises(sqlite3.OperationalError, match="moved or deleted") as raised:
            async with database.begin():
                raise AssertionError("this must not be reached")
        assert is_away(raised.value)
        away.rename(path)
        async with database.begin() as connection:
            assert await connection.scalar(select(func.count()).select_from(accounts)) == 1
