"""The table of vendors and faults as it stands in the documentation.

With UPDATE_TABLES=1 in its environment a test writes what came out, instead of comparing it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "providers.md"
Outcomes = Mapping[tuple[str, str], tuple[str, int, list[str]]]


def table_of(rows: Sequence[str], vendors: Sequence[str], outcomes: Outcomes) -> str:
    """Rows of faults, columns of vendors: how it ended, and how often the job was billed where that is not once."""
    lines = [f"| fault | {' | '.join(vendors)} |", "|---" * (len(vendors) + 1) + "|"]
    for row in rows:
        cells = [_cell(outcomes.get((row, vendor))) for vendor in vendors]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def documented(name: str, came_out: str) -> str:
    """What the page says of these faults; with UPDATE_TABLES=1, after what came out was written there."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- faults of {name} -->\n", f"\n<!-- end of faults of {name} -->"
    assert begin in page, f"{PAGE.name} has no section {begin.strip()}"
    before, _, rest = page.partition(begin)
    said, _, after = rest.partition(end)
    if os.environ.get("UPDATE_TABLES") == "1":
        PAGE.write_text(before + begin + came_out + end + after, encoding="utf-8")
        return came_out
    return said


def _cell(outcome: tuple[str, int, list[str]] | None) -> str:
    if outcome is None:
        return "–"
    ends, billed, _ = outcome
    usual = 1 if ends in ("done", "empty") else 0
    return ends if billed == usual else f"{ends}, billed {billed}×"
