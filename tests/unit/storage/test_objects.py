"""Keys that stay inside, and settings that are told what is wrong with them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from sederunt.errors import SetupError
from sederunt.settings import Settings, StorageSettings
from sederunt.storage.objects import Objects, checked, checked_prefix, folder_of, open_objects


@pytest.mark.parametrize(
    "key",
    [
        *("", "/", "/etc/passwd", "..", "a/..", "a/../b", "a//b", "a/", ".", "a/./b", "a b", "a\\b", "a\x00b"),
        *("ä", "a#1", "x" * 1025, "a%2e%2e/b", "~", "a\n", "..../a"),
    ],
)
def test_keys_that_could_leave_the_store_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="Expected a key"):
        checked(key)


@pytest.mark.parametrize(
    "key", ["bots/0198c5d0-0000-7000-8000-000000000000/pieces/000001-000002.mka", "a", "a.b/c-d/e_f", "a..b", ".x"]
)
def test_our_own_keys_are_taken(key: str) -> None:
    assert checked(key) == key


@given(st.text(max_size=40))
def test_no_key_that_is_taken_leads_out(key: str) -> None:
    try:
        checked(key)
    except ValueError:
        return
    root = Path("/store")
    assert Path("/store", key).resolve().is_relative_to(root)
    assert Path("/store", key).resolve() != root


def test_a_prefix_may_end_in_a_slash_or_be_everything() -> None:
    assert checked_prefix("bots/1/") == checked_prefix("bots/1") == "bots/1"
    assert checked_prefix("") == ""
    with pytest.raises(ValueError, match="Expected a key"):
        checked_prefix("../")


@pytest.mark.parametrize("url", ["ftp://example.com/x", "no address", "s3://"])
def test_an_address_of_no_known_kind_is_a_setup_error(url: str) -> None:
    with pytest.raises(SetupError, match="SEDERUNT_STORAGE__URL"):
        open_objects(Settings(storage=StorageSettings(url=url)))


async def test_any_store_of_the_client_will_do() -> None:
    objects = Objects(MemoryStore())
    await objects.put("a/b", b"x")
    async with objects.writer("a/c") as file:
        await file.write(b"yz")
    assert await objects.keys("a") == ["a/b", "a/c"]
    assert await objects.read_range("a/c", 1, 2) == b"z"
    assert await objects.delete_prefix("a") == 2
    assert await objects.presigned("a/b", 10) is None


async def test_refused_keys_reach_no_store() -> None:
    objects = Objects(MemoryStore())
    for call in (
        objects.get("../x"),
        objects.put("/x", b""),
        objects.size("a//b"),
        objects.delete(".."),
        objects.keys(".."),
    ):
        with pytest.raises(ValueError, match="Expected a key"):
            await call
    with pytest.raises(ValueError, match="Expected a key"):
        objects.writer("../x")


def test_objects_lie_in_the_data_directory_whatever_it_is_called(tmp_path: Path) -> None:
    """They lay beside it, at the path's spelling as an address, where no backup found them."""
    data = tmp_path / "my service ü"
    settings = Settings(data=data)
    open_objects(settings)
    assert folder_of(settings) == data / "objects"
    assert (data / "objects").is_dir()
    old = Settings(data=tmp_path / "old service")
    before = Path(str(old.data / "objects").replace(" ", "%20"))
    before.mkdir(parents=True)
    assert folder_of(old) == before, "what is there already is used"
    assert folder_of(Settings(storage=StorageSettings(url="s3://bucket"))) is None
