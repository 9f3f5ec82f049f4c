"""The list of migrations."""

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from sederunt.database import migrate


def test_the_newest_revision_is_the_one_the_program_expects() -> None:
    scripts = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    assert scripts.get_heads() == [migrate.NEWEST]


def test_every_migration_but_the_first_says_whether_older_programs_go_on_working() -> None:
    scripts = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    silent = [s.revision for s in scripts.walk_revisions() if s.down_revision and not hasattr(s.module, "keeps_older")]
    assert silent == []


@pytest.mark.parametrize(
    ("chain", "oldest"),
    [
        ([("v0004", True), ("v0003", False)], "v0003"),
        ([("v0006", True), ("v0005", True), ("v0004", False), ("v0003", True)], "v0004"),
        ([("v0005", False), ("v0004", True)], "v0005"),
    ],
)
def test_a_program_goes_on_working_up_to_the_first_migration_that_it_cannot_bear(
    chain: list[tuple[str, bool]], oldest: str
) -> None:
    assert migrate.oldest_of(chain) == oldest
