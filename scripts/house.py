"""Measures how readable the service package is: its size, its names, its prose, and how its files hang together.

    python scripts/house.py            the table
    python scripts/house.py --rooms    and the lines of each room
    python scripts/house.py --names    and the names behind the figures, most frequent first

What each row counts stands beside it in `ROWS`. Only `src/sederunt` is measured, without the practice sites and the
benches, wherever they lie.
"""

import ast
import io
import re
import statistics
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sederunt"
OUTSIDE = ("practice", "bench")  # packages beside the service

# Participles that are no `-ed` form. One that is also a common noun or adjective of the field is left out of both
# lists: `read`, `set`, `left` (a side), `feed`, `seed`, `speed`, `need`, `embed`, `shared`, `signed`, `padded` …
IRREGULAR = """
asked befallen begun believed brought come done drawn fed found given glued gone got had heard held kept known lost
made meant named noted owned placed put said seen sent shown sought spoken spoilt stood taken thought told wanted won
worn written
""".split()
REGULAR = re.compile(r"[a-z]{3,}ed")
NO_PARTICIPLES = frozenset(
    "deed embed encoded exceed expected feed failed fixed hundred indeed led mixed need needed padded red seed shared "
    "shed signed sealed speed succeed unused used".split()
)
ENTRY_POINTS = ("__init__.py", "__main__.py")


@dataclass(frozen=True)
class Module:
    """One file of the package, parsed."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def dotted(self) -> str:
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        parts = self.path.relative_to(PACKAGE).parts
        return parts[0] if len(parts) > 1 else "."

    @cached_property
    def lines(self) -> list[str]:
        """The non-blank lines."""
        return [line for line in self.text.splitlines() if line.strip()]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def imports(self, known: frozenset[str]) -> Iterator[str]:
        """Yield the modules of the package that this one imports when it is loaded or called."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in known)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    if inner in known:
                        yield inner
                    elif node.module in known:
                        yield node.module

    def prose_words(self) -> int:
        """Count the words of docstrings and comments."""
        texts = [
            ast.get_docstring(node) or ""
            for node in self.nodes
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                texts.append(token.string.lstrip("#"))
        return sum(len(text.split()) for text in texts)

    def bound_names(self) -> Iterator[str]:
        """Yield each name where it is bound: parameters and assigned variables."""
        for node in self.nodes:
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def public_definitions(self) -> set[str]:
        """Names of functions, methods and classes without an underscore."""
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        return {node.name for node in self.nodes if isinstance(node, kinds) and not node.name.startswith("_")}


@dataclass(frozen=True)
class House:
    """The whole package."""

    modules: tuple[Module, ...]

    @cached_property
    def non_blank(self) -> int:
        return sum(len(module.lines) for module in self.modules)

    @cached_property
    def names(self) -> Counter[str]:
        return Counter(name for module in self.modules for name in module.bound_names())

    @cached_property
    def participles(self) -> Counter[str]:
        return Counter({name: count for name, count in self.names.items() if is_participle(name)})

    @cached_property
    def single_use(self) -> list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Private functions and methods whose name occurs in one place of their module besides the definition."""
        result = []
        for module in self.modules:
            words = Counter(re.findall(r"\w+", module.text))
            result += [(module, f) for f in module.functions() if is_private(f.name) and words[f.name] == 2]
        return result

    @cached_property
    def functions(self) -> int:
        return sum(1 for module in self.modules for _ in module.functions())

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        known = frozenset(module.dotted for module in self.modules)
        return {m.dotted: {name for name in m.imports(known) if name != m.dotted} for m in self.modules}

    @cached_property
    def importers(self) -> Counter[str]:
        return Counter(target for targets in self.graph.values() for target in targets)

    @cached_property
    def definition_places(self) -> Counter[str]:
        return Counter(name for module in self.modules for name in module.public_definitions())

    def import_lines(self) -> int:
        total = 0
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    total += (node.end_lineno or node.lineno) - node.lineno + 1
        return total

    def circles(self) -> list[list[str]]:
        """Strongly connected groups of two modules and more (Tarjan)."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        groups: list[list[str]] = []

        def visit(name: str) -> None:
            index[name] = low[name] = len(index)
            stack.append(name)
            for target in sorted(self.graph[name]):
                if target not in index:
                    visit(target)
                    low[name] = min(low[name], low[target])
                elif target in stack:
                    low[name] = min(low[name], index[target])
            if low[name] == index[name]:
                group = stack[stack.index(name) :]
                del stack[stack.index(name) :]
                if len(group) > 1:
                    groups.append(sorted(group))

        sys.setrecursionlimit(10_000)
        for name in sorted(self.graph):
            if name not in index:
                visit(name)
        return groups


def is_participle(name: str) -> bool:
    return name in IRREGULAR or (bool(REGULAR.fullmatch(name)) and name not in NO_PARTICIPLES)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def repeated_definitions(house: House) -> str:
    places = house.definition_places
    return percent(sum(n for n in places.values() if n >= 5), sum(places.values()))


def single_use(house: House) -> str:
    short = sum(lines_of(function) <= 5 for _, function in house.single_use)
    share = percent(len(house.single_use), house.functions)
    return f"{share} ({len(house.single_use)}, of them {short} of five lines and less)"


def lambdas(house: House) -> str:
    count = sum(isinstance(node, ast.Lambda) for module in house.modules for node in module.nodes)
    return f"{1000 * count / house.non_blank:.1f} ({count})"


# What the row counts → how.
ROWS: tuple[tuple[str, Callable[[House], str]], ...] = (
    (
        "all lines of Python files / modules",
        lambda house: f"{sum(len(m.text.splitlines()) for m in house.modules):,} / {len(house.modules)}",
    ),
    (
        "bare participles among parameters and variables, counted where they are bound",
        lambda house: percent(house.participles.total(), house.names.total()),
    ),
    (
        "words of docstrings and comments per 1,000 non-blank lines",
        lambda house: f"{1000 * sum(m.prose_words() for m in house.modules) / house.non_blank:,.0f}",
    ),
    ("private functions that their module names once besides, of all functions", single_use),
    (
        "median of non-blank lines of a file, but of `__init__` and `__main__`",
        lambda house: (
            f"{statistics.median(len(m.lines) for m in house.modules if m.path.name not in ENTRY_POINTS):.0f}"
        ),
    ),
    (
        "modules that exactly one other imports",
        lambda house: str(sum(house.importers[m.dotted] == 1 for m in house.modules)),
    ),
    ("lines of imports, of all non-blank lines", lambda house: percent(house.import_lines(), house.non_blank)),
    ("public functions, methods, classes whose name stands in five and more modules", repeated_definitions),
    ("lambdas per 1,000 non-blank lines", lambdas),
    ("import circles", lambda house: str(len(house.circles()))),
    ("bytes of CHANGELOG.md", lambda house: f"{(ROOT / 'CHANGELOG.md').stat().st_size:,}"),
)


def main() -> None:
    paths = sorted(PACKAGE.rglob("*.py"))
    house = House(tuple(Module(p) for p in paths if p.relative_to(PACKAGE).parts[0] not in OUTSIDE))
    for what, measure in ROWS:
        print(f"{what}: {measure(house)}")
    for circle in house.circles():
        print("  circle:", " ".join(circle))
    if "--rooms" in sys.argv:
        sizes: dict[str, list[int]] = defaultdict(list)
        for module in (Module(path) for path in paths):
            sizes[module.room].append(len(module.text.splitlines()))
        for room, lengths in sorted(sizes.items(), key=lambda item: -sum(item[1])):
            print(f"{room:16} {sum(lengths):7,} lines {len(lengths):4} modules")
    if "--names" in sys.argv:
        print("participles:", ", ".join(f"{name} {count}" for name, count in house.participles.most_common()))
        places = [(name, count) for name, count in house.definition_places.most_common() if count >= 5]
        print("in five modules and more:", ", ".join(f"{name} {count}" for name, count in places))


if __name__ == "__main__":
    main()
