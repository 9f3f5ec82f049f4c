"""What falls on which day, in whose zone."""

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sederunt.console.calendar_view import View, moments_of, span_of, timetable, zone_of

NEW_YORK = ZoneInfo("America/New_York")


def at(moment: str) -> Any:
    return SimpleNamespace(scheduled_for=datetime.fromisoformat(moment).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("view", "on", "first", "end"),
    [
        ("month", "2026-11-23", "2026-10-26", "2026-12-07"),
        ("month", "2026-02-01", "2026-01-26", "2026-03-02"),
        ("month", "2027-02-15", "2027-02-01", "2027-03-01"),  # four weeks, begun and ended with the month
        ("month", "2026-12-31", "2026-11-30", "2027-01-04"),
        ("week", "2026-11-29", "2026-11-23", "2026-11-30"),
        ("list", "2026-11-23", "2026-11-23", "2027-11-24"),
    ],
)
def test_a_view_spans_whole_weeks(view: View, on: str, first: str, end: str) -> None:
    assert span_of(view, date.fromisoformat(on)) == (date.fromisoformat(first), date.fromisoformat(end))


def test_a_bot_stands_on_its_day_of_the_readers_zone() -> None:
    late = at("2026-11-24T03:30")
    found = timetable("month", date(2026, 11, 1), [late], zone=NEW_YORK, today=date(2026, 11, 23))
    assert [day.date for day in found.days if day.bots] == [date(2026, 11, 23)]
    assert [day.date for day in found.days if day.is_today] == [date(2026, 11, 23)]
    assert (len(found.weeks), {len(week) for week in found.weeks}) == (6, {7})
    assert [day.date.day for day in found.weeks[0] if day.is_beside] == [26, 27, 28, 29, 30, 31]
    assert (found.title, found.before, found.after) == ("November 2026", date(2026, 10, 1), date(2026, 12, 1))


def test_a_day_of_another_length_begins_and_ends_where_it_does() -> None:
    begins, ends = moments_of((date(2026, 11, 1), date(2026, 11, 2)), NEW_YORK)
    assert (ends - begins).total_seconds() == 25 * 3600


def test_a_list_has_the_days_alone_on_which_there_is_something() -> None:
    found = timetable(
        "list", date(2026, 11, 23), [at("2026-12-01T10:00"), at("2026-11-22T10:00")], zone=UTC, today=date(2026, 11, 23)
    )
    assert [day.date for day in found.days] == [date(2026, 12, 1)]


@pytest.mark.parametrize(
    "name", ["", "Nowhere/At_All", "../../etc/passwd", "/etc/passwd", "x" * 5000, "Europe", "a\0b"]
)
def test_a_zone_that_is_none_is_utc(name: str) -> None:
    assert zone_of(name) is UTC
