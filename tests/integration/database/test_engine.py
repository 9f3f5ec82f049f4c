"""Opening: migrations, the default account, several processes at once, transactions."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, func, insert, select, text

from harness.fake_clock import FakeClock
from harness.postgres import PostgresServer
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.tables import accounts, metadata
from sederunt.errors import SetupError

_OPENS = """
import asyncio, json, sys
from sederunt.database.engine import Database

async def main():
    async with Database(sys.argv[1]) as database:
        print(json.dumps(str(database.default_account_id)))

asyncio.run(main())
"""


async def test_several_processes_that_start_at_once_agree(address: str) -> None:
    children = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _OPENS, address, stdout=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    said = [(await child.communicate())[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    assert len({json.loads(line) for line in said}) == 1


async def test_the_migrations_make_the_tables_of_the_program(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    async with database.begin() as connection:
        assert await connection.run_sync(differences) == []


async def test_opening_again_keeps_what_is_there(address: str, clock: FakeClock) -> None:
    async with Database(address, clock=clock) as first:
        known = first.default_account_id
    async with Database(address, clock=clock) as second:
        assert second.default_account_id == known


async def test_a_database_of_a_newer_program_is_refused(address: str) -> None:
    async with Database(address) as database, database.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SetupError, match="upgrade"):
        await Database(address).open()


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
