"""Ids that sort by time."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122

from sederunt.database.ids import new_id

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_an_id_is_of_version_7_and_tells_its_time() -> None:
    made = new_id(NOW)
    assert (made.version, made.variant) == (7, RFC_4122)
    assert made.int >> 80 == NOW.timestamp() * 1000


def test_a_later_id_sorts_later() -> None:
    earlier, later = new_id(NOW), new_id(NOW + timedelta(milliseconds=1))
    assert earlier < later
    assert str(earlier) < str(later)


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(NOW) for _ in range(1000)}) == 1000
