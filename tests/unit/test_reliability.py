"""The page on faults names tests that exist, and `make faults` runs them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def named() -> list[tuple[str, str]]:
    """(file, test) of each row."""
    return re.findall(
        r"`((?:acceptance|integration|unit)/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs/reliability.md").read_text()
    )


def test_every_row_names_a_test_that_is_there() -> None:
    assert len(named()) > 10
    missing = [name for file, name in named() if f"def {name}(" not in (ROOT / "tests" / file).read_text()]
    assert missing == []


def test_make_faults_plays_every_row() -> None:
    faults = (ROOT / "Makefile").read_text().split("FAULTS :=")[1].split("\n\n")[0].replace("\\\n", " ").split()
    forgotten = [file for file, _ in named() if not any(f"tests/{file}".startswith(path) for path in faults)]
    assert forgotten == []
