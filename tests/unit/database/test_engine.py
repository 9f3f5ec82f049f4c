"""Addresses of databases."""

from pathlib import Path

import pytest

from sederunt.database.engine import database_url, normalised
from sederunt.errors import SetupError
from sederunt.settings import DatabaseSettings, Settings


def test_without_a_setting_the_database_is_a_file_in_the_data_directory(tmp_path: Path) -> None:
    url = normalised(database_url(Settings(data=tmp_path)))
    assert (url.drivername, url.database) == ("sqlite+aiosqlite", str(tmp_path / "sederunt.db"))


@pytest.mark.parametrize("given", ["postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d", "postgres://u:p@h/d"])
def test_any_spelling_of_postgresql_gets_our_driver(given: str) -> None:
    url = normalised(database_url(Settings(database=DatabaseSettings(url=given))))
    assert url.render_as_string(hide_password=False) == "postgresql+asyncpg://u:p@h/d"


@pytest.mark.parametrize("given", ["mysql://h/d", "sqlite://", "sqlite:///:memory:"])
def test_what_we_cannot_use_is_refused_with_what_would_do(given: str) -> None:
    with pytest.raises(SetupError, match="sqlite:///"):
        normalised(given)
