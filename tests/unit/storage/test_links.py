"""Signed addresses open one file until a moment, and nothing else."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.storage.links import Links

ID = UUID("0198c5d0-0000-7000-8000-000000000001")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LINKS = Links(b"0123456789abcdef", "https://bots.example.com/")


def _parts(address: str) -> tuple[str, UUID, str, str, str]:
    split = urlsplit(address)
    _, files, resource, id_, name = split.path.split("/")
    assert files == "files"
    query = parse_qs(split.query)
    return unquote(resource), UUID(id_), unquote(name), query["until"][0], query["signature"][0]


def _opens(address: str, now: datetime = NOW, links: Links = LINKS, changes: Mapping[str, str] | None = None) -> bool:
    resource, id_, name, until, signature = _parts(address)
    facts = {"resource": resource, "name": name, "until": until, "signature": signature} | dict(changes or {})
    return links.check(
        facts["resource"], id_, facts["name"], until=facts["until"], signature=facts["signature"], now=now
    )


def test_an_address_opens_until_its_moment() -> None:
    address = LINKS.sign("bots", ID, "recording.webm", NOW + timedelta(days=7))
    assert address.startswith(f"https://bots.example.com/files/bots/{ID}/recording.webm?until=")
    assert _opens(address)
    assert _opens(address, NOW + timedelta(days=7, seconds=-1))
    assert not _opens(address, NOW + timedelta(days=7))


@pytest.mark.parametrize(
    "changes",
    [
        {"resource": "recordings"},
        {"name": "track-0.mka"},
        {"until": "99999999999"},
        {"until": "not a number"},
        {"until": ""},
        {"signature": ""},
        {"signature": "ä"},
        {"signature": "\ud800"},
    ],
)
def test_a_changed_address_opens_nothing(changes: dict[str, str]) -> None:
    assert not _opens(LINKS.sign("bots", ID, "recording.webm", NOW + timedelta(days=7)), changes=changes)


def test_another_secret_or_id_opens_nothing() -> None:
    address = LINKS.sign("bots", ID, "recording.webm", NOW + timedelta(days=7))
    assert not _opens(address, links=Links(b"another secret...", "https://bots.example.com"))
    resource, _, name, until, signature = _parts(address)
    assert not LINKS.check(resource, UUID(int=5), name, until=until, signature=signature, now=NOW)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_any_names_survive_the_address_and_never_run_into_each_other(resource: str, name: str) -> None:
    address = LINKS.sign(resource, ID, name, NOW + timedelta(days=1))
    assert _opens(address)
    assert not _opens(address, changes={"resource": resource + name[:1], "name": name[1:]})


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        Links(b"short", "https://x")
