"""What callers and people in meetings call themselves cannot steer a terminal."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.cli.context import show
from sederunt.cli.formats import OutputFormat
from sederunt.cli.terminal import plain

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
