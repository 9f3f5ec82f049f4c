"""Stays as bots recorded them, played again: what was claimed in them must come to what is written beside them.

`sederunt bots replay claims-….jsonl.gz --expect why-….json` does so with a stay of one's own; put both files into
`stays/` under one name to keep it.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sederunt.cli.bots import app

STAYS = sorted(Path(__file__).with_name("stays").glob("*.jsonl.gz"))


@pytest.mark.parametrize("claims", STAYS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_a_recorded_stay_comes_to_what_it_came_to(claims: Path, tmp_path: Path) -> None:
    expected = claims.with_name(claims.name.replace(".jsonl.gz", ".json"))
    played = CliRunner().invoke(app, ["replay", str(claims), "--expect", str(expected), "--changes"])
    assert played.exit_code == 0, played.output
    assert json.loads(played.stdout) == json.loads(expected.read_text())
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert CliRunner().invoke(app, ["replay", str(claims), "--expect", str(other)]).exit_code == 1


def test_what_is_no_journal_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "claims.jsonl.gz").write_bytes(b"nothing")
    refused = CliRunner().invoke(app, ["replay", str(tmp_path / "claims.jsonl.gz")])
    assert refused.exit_code == 1
    assert "expected a journal of claims" in refused.output
