"""SECURITY.md names the test of each attack that was tried; they lie beside what they test."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
HEADING = "## Attacks that were tried"


def rows() -> Mapping[str, list[tuple[str, str]]]:
    """Attack → (file, name) of its tests."""
    text = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    lines = text.partition(HEADING)[2].partition("\n## ")[0].splitlines()
    table = [line.split(" | ") for line in lines if line.startswith("| ") and not line.startswith("| Attack")]
    return {row[0].strip("| "): NAMED.findall(row[-1]) for row in table}


@pytest.mark.parametrize("attack", rows())
def test_an_attack_has_tests_and_each_of_them_is_there(attack: str) -> None:
    named = rows()[attack]
    assert named
    for file, name in named:
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert name in there, f"{file} has no {name}"


def test_the_index_is_whole() -> None:
    assert len(rows()) >= 20
