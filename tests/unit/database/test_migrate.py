"""The list of migrations."""

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from sederunt.database import migrate


def test_the_newest_revision_is_the_one_the_program_expects() -> None:
    scripts = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    assert scripts.get_heads() == [migrate.NEWEST]


def test_every_migration_since_the_oldest_program_is_noted_says_whether_older_ones_go_on_working() -> None:
    scripts = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    silent = [
        s.revision for s in scripts.walk_revisions() if s.revision > "0012" and not hasattr(s.module, "keeps_older")
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("chain", "oldest"),
    [
        ([("0013", True), ("0012", False)], "0012"),
        ([("0015", True), ("0014", True), ("0013", False), ("0012", True)], "0013"),
        ([("0014", False), ("0013", True)], "0014"),
    ],
)
def test_a_program_goes_on_working_up_to_the_first_migration_that_it_cannot_bear(
    chain: list[tuple[str, bool]], oldest: str
) -> None:
    assert migrate.oldest_of(chain) == oldest
