"""The process that `reader` starts: it takes away its own rights, then reads one calendar from its standard input."""

import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sederunt.calendars.meeting import CalendarMeeting, FeedChoice, FeedRule
from sederunt.media.sandboxed_reader_child import give_up_rights
from sederunt.platforms.links import InvalidLink

MOST_MEETINGS = 2_000  # in the stretch of time that is looked at
_LONGEST_TEXT = 20_000
_UNSHOWN = frozenset({"Cc", "Cs"})  # controls, halves of characters
_LONGEST_UID, _LONGEST_TITLE = 1_000, 200
MEMORY_BYTES = 1 << 30  # of addresses; 10 MB of single events take half of it (measured)
GIVES_WAY = 10  # nice(2): no meeting and no transcript waits for a calendar


def main() -> None:
    """Run as `SINCE UNTIL CPU_S`, two moments in ISO 8601; prints {"meetings": […]} or {"fault": why}.

    Standard input has a line of JSON, the choice, and then the calendar.
    """
    since, until, cpu_s = sys.argv[1:]
    os.nice(GIVES_WAY)
    give_up_rights(int(cpu_s), memory_bytes=MEMORY_BYTES)
    asked = json.loads(sys.stdin.buffer.readline())
    choice = FeedChoice(**{**asked, "rule": FeedRule(asked["rule"])})
    stretch = datetime.fromisoformat(since), datetime.fromisoformat(until)
    sys.stdout.write(json.dumps(told(sys.stdin.buffer.read(), *stretch, choice)))


def told(data: bytes, since: datetime, until: datetime, choice: FeedChoice) -> dict[str, Any]:
    """Return what is printed."""
    import icalendar  # heavy, and to be limited as the rest
    import recurring_ical_events  # type: ignore[import-untyped]

    try:
        calendars = icalendar.Calendar.from_ical(data, multiple=True)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        return {"fault": f"its lines are not those of a calendar ({type(error).__name__})"}
    if not calendars:
        return {"fault": "it is empty"}
    meetings: list[dict[str, Any]] = []
    for calendar in calendars:
        calendar.subcomponents = [part for part in calendar.subcomponents if not _is_broken(part)]
        # Events with one of these happen more than once.
        several = ("RRULE", "RDATE", "RECURRENCE-ID")
        recurring = {
            str(event.get("UID")) for event in calendar.walk("VEVENT") if any(name in event for name in several)
        }
        for event in recurring_ical_events.of(calendar, skip_bad_series=True).between(since, until):
            meetings += _meetings(event, recurring, choice)
            if len(meetings) > MOST_MEETINGS:
                return {"fault": f"it has more than {MOST_MEETINGS:,} meetings in two weeks"}
    return {"meetings": meetings}


def _is_broken(part: Any) -> bool:
    """Return whether an event has no time that can be computed with: it would take all others with it."""
    if part.name != "VEVENT":
        return False
    try:
        begins = part["DTSTART"].dt
        length = part["DURATION"].dt if "DURATION" in part else timedelta()
        return not isinstance(begins, date) or begins + length is None
    except (KeyError, AttributeError, TypeError, ValueError, OverflowError):
        return True


def _meetings(event: Any, recurring: set[str], choice: FeedChoice) -> Iterator[dict[str, Any]]:
    """Yield the meeting of an occurrence; nothing for one not chosen, without a link, cancelled, or of a whole day."""
    from sederunt.calendars.links import meeting_link

    uid = str(event.get("UID") or "")
    begins = event["DTSTART"].dt
    if (
        not uid
        or len(uid) > _LONGEST_UID
        or not isinstance(begins, datetime)
        or _text(event, "STATUS").strip().upper() == "CANCELLED"
    ):
        return
    texts = [_text(event, name) for name in _PLACES_OF_LINKS]
    try:
        link = meeting_link(texts)
    except InvalidLink:
        return
    if link is None:
        return
    service, address = link
    named = event.get("RECURRENCE-ID")
    title = _text(event, "SUMMARY")
    if not choice.takes(_people(event), f"{title}\n{_text(event, 'DESCRIPTION')}"):
        return
    meeting = CalendarMeeting(
        uid=uid,
        occurrence=_moment(named.dt) if named is not None and uid in recurring else "",
        title=_shown(title)[:_LONGEST_TITLE],
        starts_at=begins.astimezone(UTC) if begins.tzinfo else begins.replace(tzinfo=UTC),
        service=service,
        meeting_url=address,
    )
    yield {**asdict(meeting), "starts_at": meeting.starts_at.isoformat()}


# Where calendars keep the link of a call, the surest place first.
_PLACES_OF_LINKS = (
    "X-GOOGLE-CONFERENCE",
    "X-MICROSOFT-SKYPETEAMSMEETINGURL",
    "X-MICROSOFT-ONLINEMEETINGEXTERNALLINK",
    "CONFERENCE",
    "URL",
    "LOCATION",
    "DESCRIPTION",
    "X-ALT-DESC",
)


def _text(event: Any, name: str) -> str:
    value = event.get(name)
    if isinstance(value, list):
        value = " ".join(str(one) for one in value[:20])
    return "" if value is None else str(value)[:_LONGEST_TEXT]


def _shown(text: str) -> str:
    """Return a text without controls: no database stores all of them, and what is stored is compared with it."""
    return "".join(letter for letter in " ".join(text.split()) if unicodedata.category(letter) not in _UNSHOWN)


def _people(event: Any) -> Iterator[str]:
    for name in ("ORGANIZER", "ATTENDEE"):
        found = event.get(name) or []
        for person in (found if isinstance(found, list) else [found])[:1_000]:
            if str(getattr(person, "params", {}).get("PARTSTAT", "")).upper() != "DECLINED":
                yield str(person).casefold().removeprefix("mailto:").strip()[:320]


def _moment(at: date | datetime) -> str:
    if not isinstance(at, datetime):
        return at.isoformat()
    return (at.astimezone(UTC) if at.tzinfo else at).isoformat()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
