"""`sederunt models` where there is none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sederunt.cli.models import app
from sederunt.transcription.whisper import resolution


def test_nothing_to_check_is_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resolution, "present", lambda *_: [])
    done = CliRunner().invoke(app, ["verify", "--data", str(tmp_path)])
    assert (done.exit_code, done.output) == (0, "There is no model on this machine, so nothing was checked.\n")
