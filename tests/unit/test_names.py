"""Names in the package: each class has its own, and nothing is kept that nobody uses."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Parse the package; not while tests are collected, which each process does."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def test_no_two_classes_bear_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert len(places) > 500, "the sources were not found"
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_what_a_module_defines_is_used() -> None:
    """Tests do not count, but for what `practice` and `bench` offer them."""
    words = Counter(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in readers())))
    unused = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path, tree in trees().items()
        if not {"practice", "bench", "versions"} & set(path.parts)
        for name in defined(tree)
        if words[name] == 1
    ]
    assert unused == []


def readers() -> Iterator[Path]:
    yield from trees()
    yield from (ROOT / "scripts").glob("*.py")
    yield ROOT / "pyproject.toml"


def defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.decorator_list or isinstance(node, ast.ClassDef):  # else a decorator registers it
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
