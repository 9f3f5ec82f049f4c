"""`sederunt adopt`: a data directory from before 0.1.0 is refused until it is adopted; anything else stays as it is."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from sederunt.database import migrate
from sederunt.database.engine import Database, database_file


def sederunt(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sederunt.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


async def make_database(data: Path) -> None:
    async with Database(f"sqlite:///{database_file(data)}"):
        pass


def test_a_data_directory_from_before_the_release_is_served_once_it_is_adopted(tmp_path: Path) -> None:
    asyncio.run(make_database(tmp_path))
    with closing(sqlite3.connect(database_file(tmp_path))) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [migrate.LAST_BEFORE_RELEASE])
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
