"""The doctor on real parts: what it proves, and what it says of a fault."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PARTS = ["disk", "database", "NATS", "storage"]


def examine(data: Path, *parts: str, **environment: str) -> tuple[int, dict[str, dict[str, Any]]]:
    only = [argument for part in parts for argument in ("--only", part)]
    command = [sys.executable, "-m", "sederunt.cli.main", "doctor", "--json", "--data", str(data), *only]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin", **environment})
    return done.returncode, {finding["part"]: finding for finding in json.loads(done.stdout)}


def is_busy_disk(finding: dict[str, Any]) -> bool:
    """Where other tests keep the disk busy its flushes take long, and the doctor is right to say so."""
    return finding["part"] == "disk" and str(finding["found"]).startswith("A flush takes")


def test_a_sound_house(tmp_path: Path) -> None:
    code, findings = examine(tmp_path, *PARTS)
    assert list(findings) == PARTS
    unsound = [finding for finding in findings.values() if not finding["sound"]]
    assert [finding for finding in unsound if not is_busy_disk(finding)] == []
    assert code == (1 if unsound else 0)


@pytest.mark.chromium
def test_the_browser_is_heard(tmp_path: Path) -> None:
    code, findings = examine(tmp_path, "browser")
    assert findings["browser"]["sound"], findings
    assert "440 Hz" in findings["browser"]["found"]
    assert code == 0


def test_faults_come_with_a_remedy_and_do_not_hide_what_is_sound(tmp_path: Path) -> None:
    code, findings = examine(
        tmp_path,
        "disk",
        "NATS",
        "browser",
        SEDERUNT_BUS__URL="nats://127.0.0.1:9",
        SEDERUNT_BROWSER__MODE="shell",
        SEDERUNT_BROWSER__SHELL_EXECUTABLE="/nowhere/browser",
    )
    assert code == 1
    assert findings["disk"]["sound"] or is_busy_disk(findings["disk"])
    for part, remedy in (("NATS", "SEDERUNT_BUS__URL"), ("browser", "apt-get install")):
        assert not findings[part]["sound"]
        assert remedy in findings[part]["remedy"]


def test_a_browser_that_only_some_bots_need_is_missed_too(tmp_path: Path) -> None:
    code, findings = examine(tmp_path, "browser", SEDERUNT_BROWSER__EXECUTABLE="/nowhere/browser")
    assert code == 1
    assert "/nowhere/browser" in findings["browser"]["found"]


def test_real_speech_is_understood(tmp_path: Path) -> None:
    code, findings = examine(tmp_path, "speech model", SEDERUNT_WHISPER__MODEL="tiny.en")
    assert findings["speech model"]["sound"], findings
    assert "superlative" in findings["speech model"]["found"].lower()
    assert code == 0


def test_a_damaged_database_file_is_not_blamed_on_a_server(tmp_path: Path) -> None:
    (tmp_path / "sederunt.db").write_bytes(b"this is no database, " * 50)
    code, findings = examine(tmp_path, "database")
    assert code == 1
    assert findings["database"]["found"].endswith("cannot be opened: file is not a database.")
    assert findings["database"]["remedy"].startswith("Look at the file and its owner")


def test_a_part_that_is_none_is_refused_beside_one_that_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sederunt.cli.main", "doctor", "--data", str(tmp_path)]
    done = subprocess.run([*command, "--only", "disk", "--only", "nast"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stdout
    assert "'nast'" in done.stderr
