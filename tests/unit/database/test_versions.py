"""The chain of migrations: one end, numbered without a gap, each file named after its number."""

import re
from itertools import pairwise
from pathlib import Path

from sederunt.database import migrations

VERSIONS = Path(migrations.__path__[0]) / "versions"


def test_migrations_are_one_chain() -> None:
    found = []
    for path in sorted(VERSIONS.glob("v*.py")):
        text = path.read_text()
        number = re.search(r'^revision = "v(\d{4})"', text, re.MULTILINE)
        before = re.search(r'^down_revision(?:: [^=]+)? = (?:"v(\d{4})"|None)', text, re.MULTILINE)
        assert number is not None, path.name
        assert before is not None, path.name
        assert path.name.startswith(f"v{number[1]}_")
        found.append((number[1], before[1]))
    assert found[0][1] is None
    assert [later[1] for _, later in pairwise(found)] == [earlier[0] for earlier, _ in pairwise(found)]
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
