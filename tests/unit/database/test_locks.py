"""Whom the kernel's list of locks names."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sederunt.database.locks import exclusive, holders

LINES = """\
1: POSIX  ADVISORY  WRITE 11 fe:00:77 120 120
2: POSIX  ADVISORY  READ 12 fe:00:77 123 123
3: POSIX  ADVISORY  READ 12 fe:00:77 128 128
4: POSIX  ADVISORY  WRITE 13 fe:00:78 120 120
5: FLOCK  ADVISORY  WRITE 14 fe:00:77 0 EOF
6: -> POSIX  ADVISORY  WRITE 15 fe:00:77 120 120
7: POSIX  ADVISORY  WRITE 16 fe:00:77 0 EOF
""".splitlines()


@pytest.mark.parametrize(("inode", "found"), [(77, {11}), (78, {13}), (7, set())])
def test_only_exclusive_locks_on_the_bytes_of_the_index_count(inode: int, found: set[int]) -> None:
    assert exclusive(LINES, inode) == found


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists its locks")
def test_who_writes_is_known_for_as_long_as_the_transaction_lasts(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    assert holders(path) == frozenset()
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('began', flush=True); sys.stdin.readline();"
        "c.execute('COMMIT'); print('done', flush=True); sys.stdin.readline()"
    )
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("CREATE TABLE some (thing)")
        command = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            assert writer.stdout.readline() == "began\n"
            assert holders(path) == {writer.pid} != {os.getpid()}
            print(file=writer.stdin, flush=True)
            assert writer.stdout.readline() == "done\n"
            reader.execute("BEGIN").execute("SELECT * FROM some").fetchall()
            assert holders(path) == frozenset()
            print(file=writer.stdin, flush=True)
