"""What goes wrong is told as a sentence; what is a fault of the program keeps its traceback."""

import errno
import sys

import httpx2
import pytest
import typer

from sederunt import __version__
from sederunt.cli import main
from sederunt.cli.error_messages import plain_errors, sentence_of
from sederunt.errors import NotFound


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotFound("There is no bot."), "There is no bot."),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x.mp3"), "x.mp3: No such file or directory."),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "Connection refused."),
        (
            httpx2.ConnectError("All connection attempts failed"),
            "It cannot be reached: All connection attempts failed.",
        ),
    ],
)
def test_a_callers_or_machines_fault_is_one_sentence(
    error: Exception, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence_of(error) == told
    with pytest.raises(typer.Exit) as left, plain_errors():
        raise error
    assert (left.value.exit_code, capsys.readouterr().err) == (1, f"Error: {told}\n")


def test_a_fault_of_the_program_is_not_hidden() -> None:
    assert sentence_of(ZeroDivisionError("division by zero")) is None
    with pytest.raises(ZeroDivisionError), plain_errors():
        raise ZeroDivisionError


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["sederunt", "--version"])
    main.main()
    assert capsys.readouterr().out == f"sederunt {__version__}\n"
