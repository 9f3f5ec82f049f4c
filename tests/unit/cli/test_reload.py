"""`reload` signals the process that serves, and no other that has its number by now."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from sederunt.cli.reload import reload
from sederunt.cli.replacing import Replacements, replacements_file, tell_replacements
from sederunt.cli.run_files import lock_file, serving_pid
from sederunt.cli.serve import _only_one

# Becomes another program, as `serve` does, with the lock open by number.
SERVES = """
import os, sys
from pathlib import Path
from sederunt.cli.serve import _only_one
with _only_one(Path(sys.argv[1])) as lock:
    os.set_inheritable(lock.fileno(), True)
    os.execv(sys.executable, [sys.executable, "-c", "print('here', flush=True); input()"])
"""


@contextlib.contextmanager
def _running(*command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run it until the end of the block; it has said something."""
    with subprocess.Popen([sys.executable, "-c", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("locked", [False, True])
def test_a_process_that_got_the_number_of_a_killed_serve_is_left_alone(
    locked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _running("print('here', flush=True); input()") as other, contextlib.ExitStack() as stack:
        replacements_file(tmp_path).parent.mkdir()
        lock_file(tmp_path).write_text(str(other.pid))
        if locked:  # a new `serve` begins, and has not told of itself yet
            stack.enter_context(_only_one(tmp_path))
        tell_replacements(tmp_path, Replacements(pid=other.pid))
        with pytest.raises(typer.Exit) as end:
            reload(tmp_path, wait=False)
        assert end.value.exit_code == 1
        assert "No `sederunt serve` that can replace its roles runs" in capsys.readouterr().err
        other.communicate(b"\n", timeout=60)
        assert other.returncode == 0  # the signal would have ended it


def test_a_serve_is_known_by_its_lock_whatever_its_program_became(tmp_path: Path) -> None:
    assert serving_pid(tmp_path) is None
    with _running(SERVES, str(tmp_path)) as serve:
        assert serving_pid(tmp_path) == serve.pid
    assert serving_pid(tmp_path) is None
    with _only_one(tmp_path):
        assert serving_pid(tmp_path) == os.getpid()
