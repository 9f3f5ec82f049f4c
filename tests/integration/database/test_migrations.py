"""The schema: made by migrations, the program's own, carried on with what is in it; databases from before 0.1.0."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text

from sederunt.database import migrate
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.tables import accounts, metadata, oldest_program
from sederunt.errors import SetupError

# What an engine's catalogue says of all tables, column order aside: a later migration adds its columns at the end.
CATALOGUE = {
    "sqlite": (
        'SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden '
        "FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'",
        'SELECT m.name, f."table", f."from", f."to", f.on_update, f.on_delete '
        "FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f",
        'SELECT m.name, i.name, i."unique", i.origin, i.partial, x.seqno, x.name, x."desc", s.sql '
        "FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_xinfo(i.name) x "
        "LEFT JOIN sqlite_master s ON s.name = i.name",
        "SELECT name, sql LIKE '%AUTOINCREMENT%' FROM sqlite_master WHERE type = 'table'",
        "SELECT type, name, sql FROM sqlite_master WHERE type NOT IN ('table', 'index')",
    ),
    "postgresql": (
        "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity "
        "FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace",
        "SELECT relkind::text, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    ),
}
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "v9999"
down_revision = "{newest}"
keeps_older = {keeps_older}


def upgrade() -> None:
    op.add_column("accounts", sa.Column("colour", sa.Text(), nullable=False, server_default=sa.text("'blue'")))
"""


async def test_the_migrations_make_the_tables_of_the_program(empty_address: str) -> None:
    def both(connection: Connection) -> tuple[set[Sequence[object]], set[Sequence[object]]]:
        migrated = catalogue(connection)
        metadata.drop_all(connection)
        metadata.create_all(connection)
        return migrated, catalogue(connection)

    async with Database(empty_address) as database, database.begin() as connection:
        migrated, described = await connection.run_sync(both)
    assert len(migrated) > 400
    assert migrated ^ described == set()


def catalogue(connection: Connection) -> set[Sequence[object]]:
    statements = CATALOGUE[connection.dialect.name]
    return {tuple(row) for statement in statements for row in connection.execute(text(statement))}


@pytest.mark.parametrize("keeps_older", [False, True])
async def test_the_next_migration_finds_what_is_in_the_database(
    empty_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_older: bool
) -> None:
    async with Database(empty_address) as database:
        await add_account(database, "before")
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrate.__file__).parent / "migrations", folder)
    (folder / "versions" / "v9999_colour.py").write_text(NEXT.format(newest=migrate.NEWEST, keeps_older=keeps_older))
    with monkeypatch.context() as newer_program:
        newer_program.setattr(migrate, "_MIGRATIONS", str(folder))
        newer_program.setattr(migrate, "NEWEST", "v9999")
        async with Database(empty_address) as database, database.begin() as connection:
            colours = await connection.execute(text("SELECT name, colour FROM accounts ORDER BY name"))
            assert colours.all() == [("before", "blue"), ("default", "blue")]
    if keeps_older:
        async with Database(empty_address) as database:
            await add_account(database, "of an older program")
    else:
        with pytest.raises(SetupError, match="schema v9999, which programs older than v9999 cannot use"):
            await Database(empty_address).open()


async def test_a_database_of_the_last_program_before_the_release_is_adopted_with_all_that_is_in_it(
    empty_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with from_before_the_release(empty_address, migrate.LAST_BEFORE_RELEASE) as database:
        with pytest.raises(SetupError, match=r"before version 0\.1\.0: run `sederunt adopt`"):
            await database.open()
        assert await database.adopt() is True
        assert await database.adopt() is False
        await database.open()
        names = await database.query(select(accounts.c.name).order_by(accounts.c.name)).all()
        assert names == [{"name": "before"}, {"name": "default"}]
    monkeypatch.setattr(migrate, "NEWEST", migrate.LAST_BEFORE_RELEASE)
    async with Database(empty_address) as older_program:
        assert len(await older_program.query(select(accounts.c.name)).all()) == 2


async def test_a_database_of_an_older_program_is_sent_to_the_last_one_before_the_release(empty_address: str) -> None:
    async with from_before_the_release(empty_address, "0009") as database:
        for act in (database.open, database.adopt):
            with pytest.raises(SetupError, match=r"schema 0009.*commit f07fa56c.*then run `sederunt adopt`"):
                await act()


async def test_an_empty_database_is_not_adopted(empty_address: str) -> None:
    database = Database(empty_address)
    with pytest.raises(SetupError, match="empty"):
        await database.adopt()
    await database.close()


@asynccontextmanager
async def from_before_the_release(address: str, revision: str) -> AsyncIterator[Database]:
    """Provide a database as a program from before 0.1.0 marked it, not yet open. It holds an account `before`."""
    database = Database(address)
    try:
        async with database.begin() as connection:
            await connection.run_sync(migrate.upgrade, migrate.FIRST)
            await connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
            await connection.execute(insert(oldest_program).values(revision="0012"))
        await add_account(database, "before")
        yield database
    finally:
        await database.close()


async def add_account(database: Database, name: str) -> None:
    now = database.clock.now()
    async with database.begin() as connection:
        await connection.execute(insert(accounts).values(id=new_id(now), name=name, created_at=now))
