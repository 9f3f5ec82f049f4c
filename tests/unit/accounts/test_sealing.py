"""Sealing of secrets."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from sederunt.accounts.sealing import KEY_FILE, Sealer, load_sealer
from sederunt.errors import SetupError
from sederunt.settings import Settings

OLD, NEW = "o" * 32, "n" * 32
PLACE = ("credentials", "key", uuid4())


@given(st.text(st.characters()))
def test_what_was_sealed_opens_again(text: str) -> None:
    sealed = Sealer([OLD]).seal(text, *PLACE)
    assert Sealer([OLD]).open(sealed, *PLACE) == text


def test_the_same_secret_never_looks_the_same() -> None:
    sealer = Sealer([OLD])
    assert sealer.seal("s3cret", *PLACE) != sealer.seal("s3cret", *PLACE)


@pytest.mark.parametrize(
    "elsewhere",
    [("credentials", "key", uuid4()), ("credentials", "hint", PLACE[2]), ("bots", "key", PLACE[2])],
)
def test_a_secret_moved_elsewhere_does_not_open(elsewhere: tuple[str, str, object]) -> None:
    sealer = Sealer([OLD])
    with pytest.raises(SetupError, match="damaged"):
        sealer.open(sealer.seal("s3cret", *PLACE), *elsewhere)


@given(st.integers(min_value=8, max_value=41), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    sealer = Sealer([OLD])
    sealed = bytearray(sealer.seal("s3cret", *PLACE))
    sealed[place] ^= change
    with pytest.raises(SetupError):
        sealer.open(bytes(sealed), *PLACE)


def test_keys_can_change_without_losing_a_secret() -> None:
    sealed = Sealer([OLD]).seal("s3cret", *PLACE)
    both = Sealer([NEW, OLD])
    assert both.open(sealed, *PLACE) == "s3cret"
    renewed = both.reseal(sealed, *PLACE)
    assert both.is_current(renewed)
    assert both.reseal(renewed, *PLACE) == renewed
    assert Sealer([NEW]).open(renewed, *PLACE) == "s3cret"
    with pytest.raises(SetupError, match="SEDERUNT_SECRET_KEYS"):
        Sealer([NEW]).open(sealed, *PLACE)


@pytest.mark.parametrize("keys", [[], ["short"], [OLD, "short"]])
def test_a_weak_key_is_refused(keys: list[str]) -> None:
    with pytest.raises(SetupError, match="32 characters"):
        Sealer(keys)


def test_the_first_use_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    sealed = load_sealer(settings).seal("s3cret", *PLACE)
    path = settings.data / KEY_FILE
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(settings.data.iterdir()) == [path]
    assert load_sealer(settings).open(sealed, *PLACE) == "s3cret"


def test_a_damaged_key_file_is_named(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("short")
    with pytest.raises(SetupError, match=f"32 characters .*{KEY_FILE}"):
        load_sealer(Settings(data=tmp_path))
    (tmp_path / KEY_FILE).write_bytes(b"\xff" * 44)
    with pytest.raises(SetupError, match=f"{KEY_FILE} cannot be read or made"):
        load_sealer(Settings(data=tmp_path))


def test_where_no_key_can_be_made_a_sentence_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=f"{KEY_FILE} cannot be read or made: Not a directory"):
        load_sealer(Settings(data=tmp_path / "file"))


def test_many_first_uses_at_once_agree_on_one_key(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    with ThreadPoolExecutor(16) as threads:
        sealers = list(threads.map(lambda _: load_sealer(settings), range(16)))
    sealed = sealers[0].seal("s3cret", *PLACE)
    assert {sealer.open(sealed, *PLACE) for sealer in sealers} == {"s3cret"}


def test_keys_from_the_settings_leave_the_directory_alone(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, secret_keys=(SecretStr(NEW), SecretStr(OLD)))
    assert load_sealer(settings).open(Sealer([OLD]).seal("s3cret", *PLACE), *PLACE) == "s3cret"
    assert list(tmp_path.iterdir()) == []
