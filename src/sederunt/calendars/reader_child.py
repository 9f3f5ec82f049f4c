"""The process that `reader` starts: it gives up its rights, then reads one calendar from its standard input."""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from typing import Any

from sederunt.calendars.events import (
    CalendarEvent,
    NotACalendar,
    Warnings,
    events_of,
    moments,
    read_properties,
    rule_of,
)
from sederunt.calendars.meeting import CalendarMeeting, FeedChoice, FeedRule
from sederunt.media.sandboxed_reader_child import give_up_rights
from sederunt.model.bot import Service
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.registry import parse_link

MOST_MEETINGS = 2_000  # in the period that is read
MOST_LEFT_OUT = 200
_LONGEST_TEXT = 20_000
# Values that are set aside if they have another form.
_FORMS = {
    "SEQUENCE": re.compile(r"[0-9]{1,9}"),
    "STATUS": re.compile(r"TENTATIVE|CONFIRMED|CANCELL?ED", re.IGNORECASE),
    "TRANSP": re.compile(r"OPAQUE|TRANSPARENT", re.IGNORECASE),
    "DURATION": re.compile(r"\+?P(?:\d+W|(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.IGNORECASE),
}
_STANDS_STILL = re.compile(r"INTERVAL=0*(?:;|$)", re.IGNORECASE)
_REPEATING = ("RRULE", "RDATE", "RECURRENCE-ID")  # events with one of these happen more than once
# The beginning of the title of a cancelled meeting in Outlook, in the languages of its users.
_CANCELLED_TITLE = re.compile(
    r"\s*(?:cancell?ed|abgesagt|annul[ée]e?|cancelad[oa]|annullat[oa]|geannuleerd|odwołane|inställt|aflyst|avlyst)"
    r"\s*[:：]",
    re.IGNORECASE,
)
_UNSHOWN = frozenset({"Cc", "Cs"})  # control characters, surrogates
_LONGEST_UID, _LONGEST_TITLE = 1_000, 200
MEMORY_BYTES = 1 << 30  # of address space; 10 MB of single events take half of it (measured)
GIVES_WAY = 10  # nice(2): no meeting and no transcript has to wait for a calendar


def main() -> None:
    """Run with the arguments `SINCE UNTIL CPU_S`, two moments in ISO 8601 and seconds; print the result of `told`.

    Standard input contains a line of JSON with the choice and the feed's time zone, and then the calendar.
    """
    since, until, cpu_s = sys.argv[1:]
    os.nice(GIVES_WAY)
    give_up_rights(int(cpu_s), memory_bytes=MEMORY_BYTES)
    request = json.loads(sys.stdin.buffer.readline())
    zone = request.pop("time_zone")
    choice = FeedChoice(**{**request, "rule": FeedRule(request["rule"])})
    period = datetime.fromisoformat(since), datetime.fromisoformat(until)
    sys.stdout.write(json.dumps(told(sys.stdin.buffer.read(), *period, choice, zone)))


def told(data: bytes, since: datetime, until: datetime, choice: FeedChoice, time_zone: str = "") -> dict[str, Any]:
    """Return {"meetings": […], "left_out": […], "warnings": […]}, or {"fault": why}."""
    warnings = Warnings()
    try:
        events = events_of(data, time_zone, warnings)
    except NotACalendar as error:
        return {"fault": f"it {error}"}
    series: dict[str, list[CalendarEvent]] = {}
    for event in events:
        read_properties(event, warnings)
        series.setdefault(event.text("UID").strip(), []).append(event)
    reading = _Reading(choice, warnings)
    for uid, parts in sorted(series.items()):  # sorted, so that of two ids of one meeting always the same one is taken
        if not uid or len(uid) > _LONGEST_UID:
            for event in parts:
                warnings.add(f"Event “{event.label}” was set aside: its UID is missing or too long.")
            continue
        for event, starts_at, occurrence in _occurrences(parts, since, until, warnings):
            reading.add(uid, event, starts_at, occurrence)
        if len(reading.meetings) > MOST_MEETINGS:
            return {"fault": f"it has more than {MOST_MEETINGS:,} meetings in two weeks"}
    return {"meetings": reading.meetings, "left_out": reading.left_out, "warnings": warnings.texts}


def _occurrences(
    parts: list[CalendarEvent], since: datetime, until: datetime, warnings: Warnings
) -> Iterator[tuple[CalendarEvent, date | datetime, str]]:
    # Yields the events of one id that begin between two moments, when they begin, and the key of the occurrence if they
    # recur.
    usable = [event for event in parts if _has_times(event, warnings)]
    if not any(name in event.properties for event in usable for name in _REPEATING):
        for event in usable[-1:]:  # the last event with an id is its latest version
            if event.starts_at is not None and since <= _in_utc(event.starts_at) <= until:
                yield event, event.starts_at, ""
        return
    try:
        yield from _of_series(usable, since, until, warnings)
    except Exception as error:  # a rule may raise any of the libraries' errors: only this series is lost
        label = usable[0].label
        warnings.add(f"Event “{label}” was set aside: its recurrence cannot be computed ({type(error).__name__}).")


def _has_times(event: CalendarEvent, warnings: Warnings) -> bool:
    # Reads when an event begins; False if that is unreadable, or if the event's place in its series is.
    start_lines = event.properties.get("DTSTART")
    event.starts_at = next(moments(event, start_lines[0], warnings), None) if start_lines else None
    if event.starts_at is None:
        warnings.add(f"Event “{event.label}” was set aside: it has no beginning (DTSTART) that can be read.")
        return False
    if "RECURRENCE-ID" in event.properties and not list(moments(event, event.properties["RECURRENCE-ID"][0], warnings)):
        warnings.add(f"Event “{event.label}”: a changed date of the series was set aside.")
        return False
    for end_line in event.properties.get("DTEND", ()):
        for end in moments(event, end_line, warnings):
            if isinstance(end, datetime) != isinstance(event.starts_at, datetime) or end < event.starts_at:
                warnings.add(f"Event “{event.label}”: DTEND was set aside: it does not fit the beginning.")
    for name, form in _FORMS.items():
        if name in event.properties and not form.fullmatch(value := event.text(name).strip()):
            warnings.add(f"Event “{event.label}”: {name} was set aside: {value[:80] or 'it is empty'}.")
            del event.properties[name]
    return True


def _of_series(
    parts: list[CalendarEvent], since: datetime, until: datetime, warnings: Warnings
) -> Iterator[tuple[CalendarEvent, date | datetime, str]]:
    import icalendar  # heavy; imported here so that the limits apply
    import recurring_ical_events  # type: ignore[import-untyped]

    calendar = icalendar.Calendar()
    for number, event in enumerate(parts):
        component = icalendar.Event()
        component.add("UID", "series")
        component.add("X-NUMBER", str(number))
        component.add("DTSTART", event.starts_at)
        if sequence := event.text("SEQUENCE"):
            component.add("SEQUENCE", int(sequence))
        for prop in event.properties.get("RRULE", ()):
            if rule := rule_of(event, prop, warnings):
                try:
                    if _STANDS_STILL.search(rule):
                        raise ValueError(rule)
                    component.add("RRULE", icalendar.vRecur.from_ical(rule))
                except (ValueError, KeyError, TypeError, IndexError):
                    warnings.add(f"Event “{event.label}”: RRULE was set aside: {rule[:80]}.")
        for name in ("RDATE", "EXDATE"):
            if dates := [value for prop in event.properties.get(name, ()) for value in moments(event, prop, warnings)]:
                component.add(name, dates)
        for prop in event.properties.get("RECURRENCE-ID", ()):
            [moment] = moments(event, prop, warnings)
            scope = {"RANGE": "THISANDFUTURE"} if prop.parameters.get("RANGE") == "THISANDFUTURE" else {}
            component.add("RECURRENCE-ID", moment, parameters=scope)
        calendar.add_component(component)
    for occurrence in recurring_ical_events.of(calendar).between(since, until):
        recurrence_id = occurrence.get("RECURRENCE-ID")
        event = parts[int(occurrence["X-NUMBER"])]
        yield event, occurrence["DTSTART"].dt, _moment(recurrence_id.dt) if recurrence_id is not None else ""


class _Reading:
    """Sorts occurrences into those that get a bot and those that do not, with the reason."""

    def __init__(self, choice: FeedChoice, warnings: Warnings) -> None:
        self.meetings: list[dict[str, Any]] = []
        self.left_out: list[dict[str, str]] = []
        self._choice, self._warnings = choice, warnings
        self._taken: set[tuple[str, str, str, datetime]] = set()

    def add(self, uid: str, event: CalendarEvent, begins_at: date | datetime, occurrence: str) -> None:
        """Add one occurrence."""
        title = event.text("SUMMARY")[:_LONGEST_TEXT]
        shown_title, starts_at = _shown(title)[:_LONGEST_TITLE], _in_utc(begins_at)
        if (link := self._link(event, begins_at, title)) is not None and not isinstance(link, str):
            service, address = link
            identity = (service, parse_link(Service(service), address).meeting_id, shown_title.casefold(), starts_at)
            if identity not in self._taken:
                self._taken.add(identity)
                meeting = CalendarMeeting(
                    uid=uid,
                    occurrence=occurrence,
                    title=shown_title,
                    starts_at=starts_at,
                    service=service,
                    meeting_url=address,
                )
                self.meetings.append({**asdict(meeting), "starts_at": starts_at.isoformat()})
                return
            link = "another event is the same meeting"
        if len(self.left_out) < MOST_LEFT_OUT:
            self.left_out.append(
                {"title": shown_title, "starts_at": starts_at.isoformat(), "reason": link or "no link"}
            )

    def _link(self, event: CalendarEvent, begins_at: date | datetime, title: str) -> tuple[str, str] | str | None:
        # Returns (service, address) of an event's meeting, or why it gets no bot.
        from sederunt.calendars.links import meeting_link

        if not isinstance(begins_at, datetime):
            return "whole day"
        availability = (event.text("TRANSP").upper(), event.text("X-MICROSOFT-CDO-BUSYSTATUS").upper())
        if event.text("STATUS").strip().upper() in ("CANCELLED", "CANCELED") or (
            ("TRANSPARENT" in availability or "FREE" in availability) and _CANCELLED_TITLE.match(title)
        ):
            return "cancelled"
        try:
            link = meeting_link([event.text(name)[:_LONGEST_TEXT] for name in _PLACES_OF_LINKS])
        except InvalidLink as error:
            return f"link not understood: {error}"
        if link is not None and not self._choice.takes(
            _people(event), f"{title}\n{event.text('DESCRIPTION')[:_LONGEST_TEXT]}"
        ):
            return f"not chosen by the rule '{self._choice.rule}'"
        return link


# Properties in which calendars keep the link of a call, the most reliable first.
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


def _shown(text: str) -> str:
    # Returns a text without control characters: databases do not store all of them, and the stored text is compared
    # with it.
    return "".join(letter for letter in " ".join(text.split()) if unicodedata.category(letter) not in _UNSHOWN)


def _people(event: CalendarEvent) -> Iterator[str]:
    # Yields the organiser and the attendees, without those who have declined.
    declined, people = set(), []
    for name in ("ORGANIZER", "ATTENDEE"):
        for person in event.properties.get(name, ())[:1_000]:
            address = person.text.casefold().removeprefix("mailto:").strip()[:320]
            people.append(address)
            if person.parameters.get("PARTSTAT", "").upper() == "DECLINED":
                declined.add(address)
    yield from (person for person in people if person not in declined)


def _in_utc(at: date | datetime) -> datetime:
    return at.astimezone(UTC) if isinstance(at, datetime) else datetime.combine(at, time(), UTC)


def _moment(at: date | datetime) -> str:
    if not isinstance(at, datetime):
        return at.isoformat()
    return (at.astimezone(UTC) if at.tzinfo else at).isoformat()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
