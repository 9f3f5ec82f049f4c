"""Lay out scheduled bots on a calendar: the days of a view and what falls on each, in the reader's zone. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

from sederunt.model.bot import Bot

View = Literal["month", "week", "list"]
VIEWS: tuple[View, ...] = ("month", "week", "list")
LIST_DAYS = 366


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarDay:
    """One day of a view."""

    date: date
    bots: Sequence[Bot]
    is_today: bool
    is_beside: bool  # in a month: a day of the month before or after it


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarView:
    """The content of a view: weeks of seven days, or for a list the days that have bots."""

    view: View
    title: str
    days: Sequence[CalendarDay]
    before: date  # the day of the previous view
    after: date

    @property
    def weeks(self) -> list[Sequence[CalendarDay]]:
        """Return the days in sevens."""
        return [self.days[first : first + 7] for first in range(0, len(self.days), 7)]


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name; UTC if there is none."""
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):  # not found, or a path
        return UTC


def span_of(view: View, on: date) -> tuple[date, date]:
    """Return the first day of a view, and the day after its last."""
    monday = timedelta(days=1)
    match view:
        case "week":
            first = on - on.weekday() * monday
            return first, first + timedelta(days=7)
        case "month":
            first, last = on.replace(day=1), _next_month(on) - timedelta(days=1)
            return first - first.weekday() * monday, last + (7 - last.weekday()) * monday
        case "list":
            return on, on + timedelta(days=LIST_DAYS)


def moments_of(span: tuple[date, date], zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the moments at which a span of days begins and ends."""
    begins, ends = (datetime.combine(day, time(), zone).astimezone(UTC) for day in span)
    return begins, ends


def timetable(view: View, on: date, bots: Iterable[Bot], *, zone: tzinfo, today: date) -> CalendarView:
    """Return a view around a day, without bots outside it."""
    bots_by_day: dict[date, list[Bot]] = {}
    for bot in bots:
        if bot.scheduled_for is not None:
            bots_by_day.setdefault(bot.scheduled_for.astimezone(zone).date(), []).append(bot)
    first, end = span_of(view, on)
    dates = sorted(bots_by_day) if view == "list" else [first + timedelta(days=n) for n in range((end - first).days)]
    days = [
        CalendarDay(
            date=day,
            bots=bots_by_day.get(day, []),
            is_today=day == today,
            is_beside=view == "month" and day.month != on.month,
        )
        for day in dates
        if first <= day < end
    ]
    before, after = _neighbours(view, on)
    return CalendarView(view=view, title=_title(view, on, first), days=days, before=before, after=after)


def _neighbours(view: View, on: date) -> tuple[date, date]:
    if view == "month":
        return (on.replace(day=1) - timedelta(days=1)).replace(day=1), _next_month(on)
    step = timedelta(days=7 if view == "week" else 30)
    return on - step, on + step


def _next_month(on: date) -> date:
    return (on.replace(day=1) + timedelta(days=32)).replace(day=1)


def _title(view: View, on: date, first: date) -> str:
    if view == "month":
        return f"{on:%B %Y}"
    return f"Week of {first:%d %B %Y}" if view == "week" else f"From {on:%d %B %Y}"
