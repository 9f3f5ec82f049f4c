"""Two hosts on one data directory: each has a spool of its own, and whoever lives takes what the other one left."""

import subprocess
import sys
from pathlib import Path

import pytest

from sederunt.errors import SetupError
from sederunt.meetings.record.spool_lock import own_spool

HOLDER = """
import sys
from pathlib import Path
from sederunt.meetings.record.spool_lock import own_spool

with own_spool(Path(sys.argv[1])) as spool:
    print(spool.name, flush=True)
    sys.stdin.read()
"""


def leave(data: Path, spool: str, *names: str) -> None:
    folder = data / spool / "a-bot"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"sound")


def test_a_successor_has_a_spool_and_a_name_of_its_own_until_the_one_before_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "spool\n"
        with own_spool(tmp_path) as second:
            assert second.host_name("minutes") == "minutes-2"
            leave(tmp_path, "spool", "000001.01-000000.mka", "000001.01-000001.mka.part")
            assert second.take_over() == 0, "its holder lives"
            with pytest.raises(SetupError, match="Two hosts"), own_spool(tmp_path):
                pass
            first.kill()
            first.wait()
            assert second.take_over() == 1
            found = [path.relative_to(tmp_path / "spool-2") for path in (tmp_path / "spool-2").rglob("*.*")]
            assert found == [Path("a-bot/000001.01-000000.mka")], "what a kill cut short was never promised"


def test_a_host_begins_with_what_lies_in_both(tmp_path: Path) -> None:
    leave(tmp_path, "spool", "000001.01-000000.mka")
    leave(tmp_path, "spool-2", "000002.01-000000.mka", "000002.01-000000.mkv")
    with own_spool(tmp_path) as spool:
        assert spool.host_name("minutes") == "minutes"
        assert len(list(spool.folder.glob("a-bot/*"))) == 3
