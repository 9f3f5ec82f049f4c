"""Runs the in-page scripts' own unit tests, one Node process per file: what needs no browser is tested without one."""

import shutil
import subprocess
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_the_in_page_script_passes_its_own_tests(file: Path) -> None:
    node = shutil.which("node")
    assert node, "these tests need Node: run 'make setup'"
    ran = subprocess.run([node, "--test", "--test-reporter=tap", str(file)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n# tests 0\n" not in ran.stdout, ran.stdout
