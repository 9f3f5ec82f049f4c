"""Addresses of databases."""

from pathlib import Path

import pytest

from sederunt.database.engine import Database, database_url, normalised, sqlite_file
from sederunt.errors import SetupError
from sederunt.settings import DatabaseSettings, Settings


def test_without_a_setting_the_database_is_a_file_in_the_data_directory(tmp_path: Path) -> None:
    url = normalised(database_url(Settings(data=tmp_path)))
    assert (url.drivername, url.database) == ("sqlite+aiosqlite", str(tmp_path / "sederunt.db"))


@pytest.mark.parametrize("name", ["a%20b", "a#b", "a?b"])
async def test_the_file_lies_in_the_data_directory_whatever_its_name(name: str, tmp_path: Path) -> None:
    data = tmp_path / name
    data.mkdir()
    async with Database(database_url(Settings(data=data))):
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert sqlite_file(Settings(data=data)) == data / "sederunt.db"
        assert (data / "sederunt.db").is_file()


@pytest.mark.parametrize(("name", "before"), [("a%20b", "a b/sederunt.db"), ("a?b", "a")])
def test_a_file_that_an_earlier_release_put_elsewhere_is_used_on(name: str, before: str, tmp_path: Path) -> None:
    data, path = tmp_path / name, tmp_path / before
    data.mkdir()
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert sqlite_file(Settings(data=data)) == path
    (data / "sederunt.db").touch()
    assert sqlite_file(Settings(data=data)) == data / "sederunt.db"


@pytest.mark.parametrize("given", ["postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d", "postgres://u:p@h/d"])
def test_any_spelling_of_postgresql_gets_our_driver(given: str) -> None:
    url = normalised(database_url(Settings(database=DatabaseSettings(url=given))))
    assert url.render_as_string(hide_password=False) == "postgresql+asyncpg://u:p@h/d"


def test_what_an_address_of_a_vendor_says_is_understood_or_named() -> None:
    """As managed databases print it: asyncpg knows none of these words, and raised its own TypeError."""
    url = normalised(
        "postgresql://u:p@h/d?sslmode=require&channel_binding=require&application_name=x&connect_timeout=5"
    )
    assert dict(url.query) == {"ssl": "require"}
    with pytest.raises(SetupError, match="says 'sslrootcert', which is not known here") as refused:
        normalised("postgresql://u:hidden@h/d?sslrootcert=/ca.pem")
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("given", ["mysql://h/d", "sqlite://", "sqlite:///:memory:"])
def test_what_we_cannot_use_is_refused_with_what_would_do(given: str) -> None:
    with pytest.raises(SetupError, match="sqlite:///"):
        normalised(given)


@pytest.mark.parametrize("given", ["nonsense", "postgresql://u:hidden@h:port/d"])
def test_what_is_no_address_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(SetupError, match="SEDERUNT_DATABASE__URL is no address") as refused:
        normalised(given)
    assert given not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"this is no database, " * 50, "file is not a database"), (None, "File exists")]
)
async def test_what_cannot_be_opened_is_a_sentence(content: bytes | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "sederunt.db"
    if content is None:
        (tmp_path / "file").touch()
        path = tmp_path / "file" / "sederunt.db"
    else:
        path.write_bytes(content)
    with pytest.raises(SetupError, match=f"The database {path} cannot be opened: {reason}"):
        await Database(f"sqlite:///{path}").open()
