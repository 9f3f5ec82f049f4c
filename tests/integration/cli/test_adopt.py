"""`sederunt adopt`: a data directory from before 0.1.0 is refused until it is adopted; anything else stays as it is."""

import asyncio
import subprocess
import sys
from pathlib import Path

from sqlalchemy import insert, text

from sederunt.database import migrate
from sederunt.database.engine import Database, database_file
from sederunt.database.tables import oldest_program


def sederunt(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sederunt.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


async def make_database(data: Path) -> None:
    """Make a database as the last program before 0.1.0 left it."""
    database = Database(f"sqlite:///{database_file(data)}")
    async with database.begin() as connection:
        await connection.run_sync(migrate.upgrade, migrate.FIRST)
        await connection.execute(
            text("UPDATE alembic_version SET version_num = :it"), {"it": migrate.LAST_BEFORE_RELEASE}
        )
        await connection.execute(insert(oldest_program).values(revision="0012"))
    await database.close()


def test_a_data_directory_from_before_the_release_is_served_once_it_is_adopted(tmp_path: Path) -> None:
    asyncio.run(make_database(tmp_path))
    refused = sederunt("serve", "--port", "0", "--data", str(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "run `sederunt adopt`" in refused.stderr
    adopted = sederunt("adopt", "--data", str(tmp_path))
    assert (adopted.returncode, "is adopted" in adopted.stdout) == (0, True), adopted.stderr
    assert "default" in sederunt("accounts", "list", "--data", str(tmp_path)).stdout
    again = sederunt("adopt", "--data", str(tmp_path))
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True), again.stderr


def test_nothing_is_made_where_there_is_no_database(tmp_path: Path) -> None:
    done = sederunt("adopt", "--data", str(tmp_path / "elsewhere"))
    assert (done.returncode, "There is no database" in done.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []
