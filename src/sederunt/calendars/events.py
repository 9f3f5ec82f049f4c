"""The events of a calendar file, read line by line: only damaged parts are set aside, each with a warning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, tzinfo

from sederunt.calendars.zones import zone_of, zone_of_rules

MOST_WARNINGS = 50
_LONGEST_SHOWN = 80
_LINE = re.compile(r'([A-Za-z0-9-]+)((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)', re.DOTALL)
_TIME_LINE = re.compile(r"(DTSTART|DTEND|RECURRENCE-ID|RDATE|EXDATE)\b(.*):([^:]*)", re.IGNORECASE | re.DOTALL)
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?", re.IGNORECASE)
_UNTIL = re.compile(r"(;?)UNTIL=([^;]*)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PARAMETER = re.compile(r';([^=:;"]+)=((?:"[^"]*"|[^";])*)')
_SEVERAL = frozenset({"RRULE", "RDATE", "EXDATE", "ATTENDEE", "CONFERENCE", "COMMENT", "CATEGORIES", "ATTACH"})
# RFC 5545, 7986, 9073 and 9253. A line with any other name may be one of these, misspelt.
_KNOWN = frozenset(
    [
        "ATTACH",
        "ATTENDEE",
        "CALENDAR-ADDRESS",
        "CALSCALE",
        "CATEGORIES",
        "CLASS",
        "COLOR",
        "COMMENT",
        "CONCEPT",
        "CONFERENCE",
        "CONTACT",
        "CREATED",
        "DESCRIPTION",
        "DTEND",
        "DTSTAMP",
        "DTSTART",
        "DURATION",
        "EXDATE",
        "EXRULE",
        "GEO",
        "IMAGE",
        "LAST-MODIFIED",
        "LINK",
        "LOCATION",
        "LOCATION-TYPE",
        "METHOD",
        "NAME",
        "ORGANIZER",
        "PARTICIPANT-TYPE",
        "PRIORITY",
        "PRODID",
        "RDATE",
        "RECURRENCE-ID",
        "REFID",
        "REFRESH-INTERVAL",
        "RELATED-TO",
        "REQUEST-STATUS",
        "RESOURCE-TYPE",
        "RESOURCES",
        "RRULE",
        "SEQUENCE",
        "SOURCE",
        "STATUS",
        "STRUCTURED-DATA",
        "STYLED-DESCRIPTION",
        "SUMMARY",
        "TRANSP",
        "UID",
        "URL",
        "VERSION",
    ]
)
_READ_ELSEWHERE = frozenset({"VCALENDAR", "VEVENT", "VTIMEZONE"})


@dataclass(frozen=True, slots=True)
class Property:
    """One line of an event."""

    name: str
    parameters: dict[str, str]
    value: str

    @property
    def text(self) -> str:
        """Return the value without escapes."""
        return _ESCAPED.sub(lambda mark: "\n" if mark.group(1) in "nN" else mark.group(1), self.value)


@dataclass(slots=True)
class CalendarEvent:
    """One event's contents, as they are written; `starts_at` has no zone if it is a day."""

    lines: list[str]
    zones: "CalendarZones"
    properties: dict[str, list[Property]] = field(default_factory=dict)
    starts_at: date | datetime | None = None

    def text(self, name: str) -> str:
        """Return the texts of a property; empty if it is absent."""
        return " ".join(prop.text for prop in self.properties.get(name, ())[:20])

    @property
    def label(self) -> str:
        """Return the event's name in a warning."""
        return _short(self.text("SUMMARY") or self.text("UID") or "without a title")


@dataclass(slots=True)
class CalendarZones:
    """The time zones of one calendar."""

    chosen: str  # of the feed
    named: str = ""  # X-WR-TIMEZONE
    own: dict[str, tzinfo] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)  # of all its VTIMEZONEs

    def default(self) -> tuple[tzinfo, str]:
        """Return the zone of times that name none, and a warning if it is a guess."""
        for name in (self.chosen, self.named):
            if name and (zone := zone_of(name, self.own)):
                return zone, ""
        if len(set(self.names)) == 1 and (zone := zone_of(self.names[0], self.own)):
            return zone, f"taken as {self.names[0]}, the calendar's one time zone"
        return UTC, "taken as UTC: set the feed's time_zone"


class Warnings:
    """A reader's notes on what it set aside or guessed, each once."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Note a sentence."""
        if len(self._texts) <= MOST_WARNINGS:
            self._texts["".join(letter if letter.isprintable() else " " for letter in text)] = None

    @property
    def texts(self) -> list[str]:
        """Return the sentences; the last one says so if there were more."""
        texts = list(self._texts)
        return texts if len(texts) <= MOST_WARNINGS else [*texts[:MOST_WARNINGS], "There are more of these."]


class NotACalendar(ValueError):
    """The file is no calendar, or is cut short; the message follows "it "."""


def events_of(data: bytes, chosen_zone: str, warnings: Warnings) -> list[CalendarEvent]:
    """Return the events of a file in iCalendar's form. Raises NotACalendar."""
    text = re.sub(r"\r?\n[ \t]", "", data.decode("utf-8-sig", "replace"))
    events: list[CalendarEvent] = []
    zones, is_in_head = CalendarZones(chosen_zone), True
    open_names: list[str] = []
    block: list[str] = []
    is_complete = False
    for line in re.split(r"\r\n|\n|\r", text):
        keyword, _, name = line.strip().partition(":")
        keyword, name = keyword.strip().upper(), name.strip().upper()
        if keyword == "BEGIN":
            if name == "VCALENDAR":
                zones, is_in_head = CalendarZones(chosen_zone), True
            if name in _READ_ELSEWHERE:
                _close_early(open_names, block, events, zones, warnings)
                open_names, block = [name] if name != "VCALENDAR" else [], []
            else:
                if not open_names:
                    block = []
                open_names.append(name)
            is_complete = False
        elif keyword == "END":
            is_complete = name == "VCALENDAR"
            if name == "VEVENT":
                if not open_names or open_names[0] != "VEVENT":
                    warnings.add("An event's BEGIN:VEVENT was missing or damaged.")
                elif len(open_names) > 1:
                    warnings.add(f"END:{_short(open_names[-1])} of an event was missing or damaged.")
                events.append(CalendarEvent(block, zones))
                open_names, block = [], []
            elif name == "VTIMEZONE":
                _add_zone(block, zones, warnings)
                open_names, block = [], []
            elif name == "VCALENDAR":
                _close_early(open_names, block, events, zones, warnings)
                open_names, block = [], []
            elif name in open_names:
                if open_names[0] == "VTIMEZONE":
                    block.append(line)
                del open_names[open_names.index(name) :]
            else:
                warnings.add(f"A line was set aside: {_short(line)}.")
            is_in_head = False
            continue
        elif not open_names and (match := _LINE.fullmatch(line)) and match.group(1).upper() == "X-WR-TIMEZONE":
            zones.named = match.group(3).strip()
            if zones.named and zone_of(zones.named, zones.own) is None:
                warnings.add(f"X-WR-TIMEZONE was set aside: {_short(zones.named)} is no time zone that is known.")
            continue
        elif not open_names and not is_in_head and line.strip() and not _LINE.fullmatch(line):
            warnings.add(f"A line was set aside: {_short(line)}.")
            continue
        # Parts nested in an event, alarms, are ignored; a zone's parts are its rules.
        is_nested = len(open_names) > 1 and open_names[0] == "VEVENT"
        if not is_nested and not (keyword == "BEGIN" and name in _READ_ELSEWHERE):
            block.append(line)
    if not events and "BEGIN:VCALENDAR" not in text.upper():
        raise NotACalendar("has no lines of a calendar")
    if not is_complete:
        raise NotACalendar("ends early, without END:VCALENDAR")
    return events


def _close_early(
    open_names: list[str], block: list[str], events: list[CalendarEvent], zones: CalendarZones, warnings: Warnings
) -> None:
    # Accepts a part whose END is missing.
    if open_names and open_names[0] == "VEVENT":
        warnings.add("An event's END:VEVENT was missing or damaged.")
        events.append(CalendarEvent(list(block), zones))
    elif open_names and open_names[0] == "VTIMEZONE":
        warnings.add("The END:VTIMEZONE of a time zone was missing or damaged.")
        _add_zone(block, zones, warnings)
    elif open_names:
        warnings.add(f"END:{_short(open_names[0])} was missing or damaged.")


def _add_zone(lines: list[str], zones: CalendarZones, warnings: Warnings) -> None:
    name = next((line.partition(":")[2] for line in lines if line.upper().startswith("TZID")), "")
    name = _ESCAPED.sub(r"\1", name).strip().strip('"')
    if not name:
        warnings.add("A VTIMEZONE without a name (TZID) was set aside.")
        return
    zones.names.append(name)
    if zone := zone_of_rules(lines):
        zones.own[name] = zone
    else:
        warnings.add(f"The rules of the time zone {_short(name)} (VTIMEZONE) were set aside: they cannot be read.")


def read_properties(event: CalendarEvent, warnings: Warnings) -> None:
    """Read an event's lines; set invalid ones aside."""
    stray: list[str] = []
    for line in event.lines:
        if not line.strip():
            continue
        match = _TIME_LINE.fullmatch(line) or _LINE.fullmatch(line)
        if match is None:
            stray.append(line)
            continue
        name = match.group(1).upper()
        if name not in _KNOWN and not name.startswith("X-"):
            stray.append(line)
            continue
        parameters = {key.upper(): value.strip('"') for key, value in _PARAMETER.findall(match.group(2))}
        existing = event.properties.setdefault(name, [])
        prop = Property(name, parameters, match.group(3))
        if not existing or (name in _SEVERAL and prop not in existing):
            existing.append(prop)
        elif name not in _SEVERAL and not name.startswith("X-") and prop.value != existing[0].value:
            stray.append(line)
    for line in stray:
        warnings.add(f"Event “{event.label}”: a line was set aside: {_short(line)}.")


def moments(event: CalendarEvent, prop: Property, warnings: Warnings) -> Iterator[date | datetime]:
    """Yield the readable moments of a property, with their zones; days as dates. Others cause a warning."""
    zone: tzinfo | None = None
    values = prop.value.split(",")
    for value in values:
        try:
            moment, has_zone = _moment(value.strip().partition("/")[0])
        except ValueError:
            warnings.add(f"Event “{event.label}”: {prop.name} was set aside: {_short(value) or 'it is empty'}.")
            continue
        if isinstance(moment, datetime) and not has_zone:
            zone = zone or _zone(event, prop, warnings)
            moment = moment.replace(tzinfo=zone)
        yield moment


def _zone(event: CalendarEvent, prop: Property, warnings: Warnings) -> tzinfo:
    name = prop.parameters.get("TZID", "")
    if name and (zone := zone_of(name, event.zones.own)):
        return zone
    zone, guess = event.zones.default()
    if name:
        message = (
            f"the time zone {_short(name)} is not known, its times are {guess or 'read in the zone of the calendar'}"
        )
        warnings.add(f"Event “{event.label}”: {message}.")
    elif guess:
        warnings.add(f"Times without a time zone are {guess}.")
    return zone


def _moment(text: str) -> tuple[date | datetime, bool]:
    # Returns a moment, without a zone or in UTC, and whether it is in UTC. Raises ValueError.
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if match.group(4) is None:
        return date(year, month, day), False
    moment = datetime(year, month, day, hour, minute, min(second, 59))
    return (moment.replace(tzinfo=UTC), True) if match.group(7) else (moment, False)


def rule_of(event: CalendarEvent, prop: Property, warnings: Warnings) -> str:
    """Return a recurrence rule with its end in UTC, as libraries require it if the beginning has a zone.

    A day as the end includes that day. A rule with an unreadable end becomes empty: without an end it would go on for
    ever.
    """
    match = _UNTIL.search(prop.value)
    if match is None:
        return prop.value
    start = event.starts_at
    try:
        until, has_zone = _moment(match.group(2).strip())
    except ValueError:
        warnings.add(f"Event “{event.label}”: RRULE was set aside: {_short(prop.value)}.")
        return ""
    if not isinstance(start, datetime):
        end = f"{until:%Y%m%d}"
    else:
        if not isinstance(until, datetime):
            until = datetime.combine(until, time(23, 59, 59))
        end = f"{(until if has_zone else until.replace(tzinfo=start.tzinfo)).astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return prop.value[: match.start()] + f"{match.group(1)}UNTIL={end}" + prop.value[match.end() :]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
