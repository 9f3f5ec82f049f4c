"""The list of migrations."""

from pathlib import Path

from alembic.script import ScriptDirectory

from sederunt.database import migrate


def test_the_newest_revision_is_the_one_the_program_expects() -> None:
    scripts = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    assert scripts.get_heads() == [migrate.NEWEST]
