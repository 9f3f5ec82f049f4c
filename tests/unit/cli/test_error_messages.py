"""What goes wrong is told as a sentence; what is a fault of the program keeps its traceback."""

import errno
import sys
from pathlib import Path

import httpx2
import pytest
import typer

from sederunt import __version__, log
from sederunt.cli import main
from sederunt.cli.error_messages import KEY_REFUSED, plain_errors, sentence_of
from sederunt.cli.status import status
from sederunt.errors import NotFound
from sederunt.mcp.backend import Refusal

ASKED = httpx2.Request("POST", "http://here/bot")


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
        (
            httpx2.HTTPStatusError(
                "Client error", request=ASKED, response=httpx2.Response(400, text="no", request=ASKED)
            ),
            "http://here/bot answered with 400: no",
        ),
        (Refusal(401, {"message": "Unauthenticated."}), KEY_REFUSED),
        (Refusal(404, {"message": "There is no bot."}), "There is no bot."),
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


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_the_help_names_every_command_and_both_options(
    asked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sederunt", asked])
    ended: list[object] = []
    monkeypatch.setattr(main, "_leave", ended.append)
    main.main()
    told = capsys.readouterr().out
    assert {name for name in (*main.COMMANDS, "--version", "-h") if name not in told} == set()
    assert ended in ([None], [0])


def test_the_status_of_a_directory_without_a_service_says_which_one_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log, "configure", lambda *_: None)
    with pytest.raises(typer.Exit) as left:
        status(tmp_path / "typo")
    told = capsys.readouterr().err
    assert (left.value.exit_code, f"No service runs on {tmp_path / 'typo'}:" in told, "--data" in told) == (
        1,
        True,
        True,
    )
