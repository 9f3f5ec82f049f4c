"""What callers and people in meetings call themselves cannot steer a terminal."""

import json
import re
import unicodedata
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from sederunt import log
from sederunt.cli.context import show
from sederunt.cli.formats import OutputFormat
from sederunt.cli.status import _print as print_processes
from sederunt.cli.terminal import tell, tell_json
from sederunt.terminal import plain, plain_but_colours

# Sets the title, clears the screen, turns the text around, ends the line.
EVIL = "Minutes\x1b]0;owned\x07\x1b[2J\u202egpj.exe\u2066\r\n\u2028[bold]x[/bold]\x9b31m"


@given(st.text())
def test_nothing_that_steers_is_left_and_everything_else_stays(text: str) -> None:
    shown = plain(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    if shown != text:
        assert "\\" in shown


@pytest.mark.parametrize("name", ["Minutes", "Grüße aus Köln", "議事録 🎙", "עברית", "العربية", "a b"])
def test_names_of_every_script_stay_as_they_are(name: str) -> None:
    assert plain(name) == name


def test_what_steers_is_written_out() -> None:
    assert plain("a\x1b[2J\nb\u202ec") == "a\\x1b[2J\\nb\\u202ec"


def test_a_table_shows_it_harmless_and_takes_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show([{"id": "1", "bot_name": EVIL}], output=OutputFormat.TABLE, nothing="")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[bold]x[/bold]" in out
    assert len(out.splitlines()) == 2


def test_json_shows_it_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    show([{"id": "1", "bot_name": EVIL}], output=OutputFormat.JSON, nothing="")
    assert capsys.readouterr().out.isascii()


def test_readable_json_is_json_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    tell_json({"name": f"Zoë {EVIL}"}, readable=True)
    out = capsys.readouterr().out
    assert "Zoë" in out
    assert plain(out.rstrip("\n")) == out.rstrip("\n")
    assert json.loads(out) == {"name": f"Zoë {EVIL}"}


def test_lines_stay_lines(capsys: pytest.CaptureFixture[str]) -> None:
    tell("one\ntwo \x1b[2J", err=True)
    assert capsys.readouterr().err == "one\ntwo \\x1b[2J\n"


def test_the_table_of_processes_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("role", "name", "pid", "state", "version")
    print_processes([{**dict.fromkeys(names, EVIL), "faults": {EVIL: EVIL}, "seats": None}])
    out = capsys.readouterr().out
    assert not set("\x1b\x07\u202e\x9b") & set(out)


@pytest.fixture
def logs() -> Iterator[None]:
    """Logs as they are set up here, and not for the tests that follow."""
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("logs")
def test_logs_for_a_terminal_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    """Their own colours aside: those are the only escape sequences in them."""
    log.configure("lines")
    log.get(name=EVIL).warning(EVIL, bot=[EVIL], words={"said": EVIL})
    try:
        raise ValueError(EVIL)
    except ValueError:
        log.get().exception("failed")
    logged = capsys.readouterr().err
    assert "owned" in logged
    for line in logged.rstrip("\n").split("\n"):
        assert plain_but_colours(line) == line


@pytest.mark.usefixtures("logs")
def test_logs_keep_secrets_that_lie_deep(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure()
    log.get().warning(
        "asked", body={"auth": {"Token": "s3cret-a"}, "urls": ("https://x/?token=s3cret-b", "nats://us:s3cret-c@h:1")}
    )
    logged = capsys.readouterr().err
    assert "asked" in logged
    assert "s3cret" not in logged


def test_a_line_of_another_process_keeps_its_colours_only() -> None:
    assert plain_but_colours("\x1b[31mred\x1b[0m \x1b[2J\x1b]0;x\x07") == "\x1b[31mred\x1b[0m \\x1b[2J\\x1b]0;x\\x07"
