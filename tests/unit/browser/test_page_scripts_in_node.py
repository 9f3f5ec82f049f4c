"""Runs the in-page scripts' own unit tests, one Node process per file: what needs no browser is tested without one."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sederunt.model.bot import Service
from sederunt.platforms.registry import platform_of

SITES = ("gmeet", "teams", "zoom")
FILES = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_the_in_page_script_passes_its_own_tests(file: Path) -> None:
    node = shutil.which("node")
    assert node, "these tests need Node: run 'make setup'"
    plans = {site: platform_of(Service(site)).watch_plan() for site in SITES}
    ran = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PLANS": json.dumps(plans)},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n# tests 0\n" not in ran.stdout, ran.stdout
