"""One word, one meaning: a class name is used once in the package."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def test_no_two_classes_bear_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert len(places) > 500, "the sources were not found"
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
