"""A meeting of a calendar, and the rule that decides whether it gets a bot. Pure; knows no calendar format."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class FeedRule(StrEnum):
    """Which of a feed's meetings get a bot."""

    ALL = "all"
    MINE = "mine"  # an address is the organiser, or an attendee who has not declined
    KEYWORD = "keyword"  # title or description contains a word


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarMeeting:
    """One occurrence of an event that has a link."""

    uid: str
    occurrence: str  # which occurrence of a recurring event; empty for an event that happens once
    title: str
    starts_at: datetime
    service: str
    meeting_url: str

    @property
    def key(self) -> str:
        """Return a key that stays the same when the event is moved, and in every calendar that contains it."""
        return hashlib.sha256(f"{self.uid}\n{self.occurrence}".encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarReading:
    """A calendar's contents in a period."""

    meetings: list[CalendarMeeting]
    left_out: list[dict[str, str]]  # title, starts_at and reason of each event that gets no bot
    warnings: list[str]  # on parts that could not be read, or were guessed


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedChoice:
    """A rule with its keyword or attendee."""

    rule: FeedRule
    keyword: str = ""
    attendee: str = ""

    def takes(self, people: Iterable[str], text: str) -> bool:
        """Return whether a meeting gets a bot.

        Args:
            people: addresses in lower case: the organiser, and attendees who have not declined.
            text: title and description.
        """
        match self.rule:
            case FeedRule.MINE:
                return self.attendee.casefold() in people
            case FeedRule.KEYWORD:
                return self.keyword.casefold() in text.casefold()
            case _:
                return True


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMeeting:
    """A meeting that has, or had, a bot."""

    key: str
    bot_id: UUID
    made: bool  # False: its bot was promised, but perhaps not made
    title: str
    starts_at: datetime
    meeting_url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The changes that a calendar requires."""

    make: tuple[CalendarMeeting, ...]
    change: tuple[tuple[KnownMeeting, CalendarMeeting], ...]
    cancel: tuple[KnownMeeting, ...]


def plan_of(
    wanted_meetings: Iterable[CalendarMeeting],
    known_meetings: Sequence[KnownMeeting],
    *,
    now: datetime,
    until: datetime,
) -> Plan:
    """Return the required changes. A known meeting between `now` and `until` that is no longer wanted is cancelled."""
    by_key = {meeting.key: meeting for meeting in wanted_meetings if now < meeting.starts_at <= until}
    known_by_key = {meeting.key: meeting for meeting in known_meetings}
    changes = [
        (known_by_key[key], meeting)
        for key, meeting in by_key.items()
        if key in known_by_key and known_by_key[key].made and _facts(known_by_key[key]) != _facts(meeting)
    ]
    return Plan(
        make=tuple(meeting for key, meeting in by_key.items() if key not in known_by_key or not known_by_key[key].made),
        change=tuple(changes),
        cancel=tuple(
            known for key, known in known_by_key.items() if key not in by_key and now < known.starts_at <= until
        ),
    )


def _facts(meeting: KnownMeeting | CalendarMeeting) -> tuple[datetime, str, str]:
    return meeting.starts_at, meeting.meeting_url, meeting.title
