"""Every command that prints what callers named, on a data directory where everything is named to steer a terminal."""

import atexit
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sederunt import log
from sederunt.cli import main as command
from sederunt.cli.main import COMMANDS
from sederunt.cli.run_files import note_address

# Clears the screen, sets the title, goes up a line, turns the text around, ends the line, an 8-bit control.
EVIL = "Min\x1b[2J\x1b]0;owned\x07\x1b[1Autes\u202e\r\u2066\x9b31m"
WRITTEN_OUT = r"Min\x1b[2J\x1b]0;owned\x07\x1b[1Autes\u202e\r\u2066\x9b31m"
STEERING = frozenset("\x1b\x07\r\x9b\u202e\u2066")
OWNER = "Ltd"
# Each as a table and as JSON; where it shows a name that we gave.
LISTS: Sequence[Sequence[str]] = [
    ["accounts", "list"],
    ["accounts", "list-meeting", "--account", OWNER],
    ["keys", "list", "--account", OWNER],
    ["credentials", "list", "--account", OWNER],
]
OTHERS: Sequence[Sequence[str]] = [
    ["people", "list", "--account", OWNER],
    ["bots", "list", "--account", OWNER],
    ["config"],
    ["reload"],
    ["models", "list"],
    ["models", "verify"],
    ["doctor", "--only", "disk"],
    ["keys", "list", "--account", f"no {EVIL}"],
    ["keys", "revoke", EVIL],
    ["keys", EVIL],
    ["keys", "list", f"--{EVIL}"],
    ["people", "invite", EVIL, "--role", EVIL],
    ["bots", "show", EVIL],
    ["bots", "stop", EVIL],
    ["bots", "watch", EVIL],
    ["bots", "replay", f"/nowhere/{EVIL}"],
    ["credentials", "check", EVIL],
    ["credentials", "add", EVIL, "--key", "k"],
    ["models", "verify", EVIL],
    ["transcribe", f"/nowhere/{EVIL}"],
    ["backup", f"/proc/{EVIL}"],
    ["adopt"],
    ["practice", "serve", "--speech", f"/nowhere/{EVIL}"],
]
# What runs until it is stopped, and prints nothing of a caller but in its logs; measurements of our own speech; the
# table of processes, which has a test of its own.
NOT_HERE = {"status", "serve", "api", "host", "worker", "mcp", "demo", "bench"}

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command as its process would: its exit code, and all that it printed."""

    def ended(code: int) -> None:
        raise SystemExit(code)

    # What a process does to itself, and this one must not.
    monkeypatch.setattr(command, "harden", lambda: None)
    monkeypatch.setattr(log, "configure", lambda *_: None)
    monkeypatch.setattr(os, "_exit", ended)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: None)

    def run(*arguments: str, given: str = "") -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["sederunt", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        with pytest.raises(SystemExit) as end:
            command.main()
        shown = capsys.readouterr()
        return int(end.value.code or 0), shown.out + shown.err

    return run


@pytest.fixture
def data(run: Run, tmp_path: Path) -> str:
    """A data directory in which all has such a name."""
    data = str(tmp_path / EVIL)
    own = ["--account", OWNER, "--data", data]
    for name in (OWNER, EVIL):
        assert run("accounts", "create", name, "--data", data)[0] == 0
    for arguments in (
        ["keys", "create", EVIL],
        ["people", "invite", EVIL],
        ["credentials", "add", "salad", "--key", "k" * 20, "--organisation", EVIL],
        ["accounts", "add-meeting", "teams", f"{EVIL}@example.com"],
    ):
        code, shown = run(*arguments, *own, given="password\n")
        assert code == 0, shown
    return data


def test_nothing_that_is_printed_steers_the_terminal(run: Run, data: str) -> None:
    for arguments in LISTS:
        code, shown = run(*arguments, "--data", data)
        assert (code, WRITTEN_OUT in shown.replace("\n", "")) == (0, True), (arguments, shown)
        assert not STEERING & set(shown), (arguments, shown)
        code, shown = run(*arguments, "--data", data, "--json")
        assert not STEERING & set(shown), (arguments, shown)
        assert EVIL in [str(value).removesuffix("@example.com") for row in json.loads(shown) for value in row.values()]
    tried = {arguments[0] for arguments in LISTS}
    for arguments in OTHERS:
        code, shown = run(*arguments, *([] if arguments[0] == "practice" else ["--data", data]))
        assert not STEERING & set(shown), (arguments, shown)
        tried.add(arguments[0])
    assert tried | NOT_HERE == set(COMMANDS)


def test_what_only_reads_creates_nothing(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    monkeypatch.setenv("SEDERUNT_DATA", str(nowhere))
    bot = "019cadc6-9a80-7d62-87ef-25d0356a4f7b"
    lists = [[name, "list"] for name in ("accounts", "keys", "credentials", "people", "bots", "models")]
    bots = [["bots", act, bot] for act in ("show", "watch", "stop", "replay")]
    for arguments in (*lists, *bots, ["accounts", "list-meeting"], ["models", "verify"], ["config"], ["status"]):
        code, shown = run(*arguments)
        assert (nowhere.exists(), "Traceback" in shown, "Errno" in shown) == (False, False, False), (arguments, shown)
        expected = 0 if arguments[0] in ("models", "config") else 3 if "watch" in arguments else 1
        assert code == expected, (arguments, shown)


def test_an_invitation_leads_to_where_the_service_listens(run: Run, tmp_path: Path) -> None:
    data = str(tmp_path)
    code, shown = run("people", "invite", "Anna", "--data", data)
    assert (code, shown.startswith("http://127.0.0.1:8080/welcome?token=")) == (0, True)
    (tmp_path / "run").mkdir(exist_ok=True)
    note_address(tmp_path, "http://127.0.0.1:8461")
    code, shown = run("people", "invite", "Anna", "--data", data)
    assert (code, shown.startswith("http://127.0.0.1:8461/welcome?token=")) == (0, True)
