"""`sederunt` commands without the second that each takes to import: one process has imported them, and forks for each.

What runs is the command's own `main` in a process of its own, with its own arguments, environment and exit code.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

GROUPS = ("accounts", "bots", "credentials", "keys")


class Commands:
    """Use as a context; not from two threads at once."""

    def __enter__(self) -> "Commands":
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], given: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """One command with this on its standard input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("given", "said", "complained")]
            files[0].write_text(given)
            order = {"arguments": arguments, "environment": dict(environment), "files": [str(file) for file in files]}
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, files[1].read_text(), files[2].read_text())


def _obey(order: Mapping[str, Any]) -> NoReturn:
    from sederunt.cli.main import main

    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (file, flag) in enumerate(zip(order["files"], flags, strict=True)):
        os.dup2(os.open(file, flag), number)
    sys.stdin = os.fdopen(0)
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["sederunt", *order["arguments"]]
    main()
    os._exit(0)


def _wait_for_orders() -> None:
    for group in GROUPS:
        importlib.import_module(f"sederunt.cli.{group}")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _obey(json.loads(line))
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _wait_for_orders()
