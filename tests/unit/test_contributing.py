"""What CONTRIBUTING.md names is there, so that a newcomer can follow it to the letter."""

import re
from pathlib import Path

import pytest

from sederunt.api.monitoring.metrics import Metrics

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./-]+|README\.md|pyproject\.toml)`", TEXT)))
LINKS = sorted(set(re.findall(r"\]\(([\w./-]+)#?([\w-]*)\)", TEXT)))
NAMES = [
    (path, name)
    for path, what in re.findall(r"^\| `(src/[\w./]+\.py)` \| (.*) \|$", TEXT, re.MULTILINE)
    for name in re.findall(r"`([A-Z_][A-Za-z_]+|[a-z]+_[a-z_]+)`", what)
]
HOW_TO = re.findall(r"^### … an? ([\w ]+)$", TEXT, re.MULTILINE)


def test_the_ways_to_add_something_are_told() -> None:
    assert HOW_TO == ["field of a bot", "status", "column or a table", "platform", "provider", "metric"]


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("path", "name"), NAMES)
def test_a_name_stands_in_the_file_it_is_looked_for_in(path: str, name: str) -> None:
    assert re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "anchor"), LINKS)
def test_a_link_leads_to_a_heading_that_exists(path: str, anchor: str) -> None:
    target = ROOT / path
    assert target.exists()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_every_metric_is_in_the_operators_guide() -> None:
    guide = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    told = re.findall(r"^# TYPE (sederunt_\w+) ", Metrics().text().decode(), re.MULTILINE)
    names = {name for name in told if not name.endswith("_created")}
    assert len(names) > 5
    missing = {name for name in names if f"`{name}`" not in guide}
    assert missing == set(), "docs/operations.md: a row for each of these"
