"""Time zones by the names in calendars: IANA, Windows, Outlook's menu, offsets, and calendars' own rules."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

_OFFSET = re.compile(r"\(?(?:UTC|GMT)?\s*([+-])(\d{1,2})[:.]?([0-5]\d)?\)?", re.IGNORECASE)
_OFFSET_LINE = re.compile(r"TZOFFSET(?:FROM|TO)[^:]*:[+-]\d{4}(?:\d\d)?", re.IGNORECASE)
_MENU = re.compile(r"\((?:UTC|GMT)\s*(?:[+-]\d{1,2}[:.]?\d{2})?\)\s*(.+)", re.IGNORECASE)

# Entries of the menu in Windows and Outlook that name no city.
_MENU_ZONES = {
    "hawaii": "Pacific/Honolulu",
    "alaska": "America/Anchorage",
    "pacific time (us & canada)": "America/Los_Angeles",
    "mountain time (us & canada)": "America/Denver",
    "arizona": "America/Phoenix",
    "central time (us & canada)": "America/Chicago",
    "central america": "America/Guatemala",
    "saskatchewan": "America/Regina",
    "eastern time (us & canada)": "America/New_York",
    "indiana (east)": "America/Indiana/Indianapolis",
    "atlantic time (canada)": "America/Halifax",
    "newfoundland": "America/St_Johns",
    "azores": "Atlantic/Azores",
    "chennai": "Asia/Kolkata",
    "abu dhabi": "Asia/Dubai",
    "beijing": "Asia/Shanghai",
    "islamabad": "Asia/Karachi",
    "osaka": "Asia/Tokyo",
    "canberra": "Australia/Sydney",
    "coordinated universal time": "UTC",
}


def zone_of(name: str, own_zones: Mapping[str, tzinfo]) -> tzinfo | None:
    """Return the zone of a name; None if there is none.

    Args:
        own_zones: the zones whose rules the calendar contains, by name.
    """
    name = name.strip().strip('"').strip()
    cleaned = name.strip("/")
    path = cleaned.split("/")
    for suffix in ("/".join(path[first:]) for first in range(len(path))):
        if zone_name := _names().get(suffix.casefold()):
            return ZoneInfo(zone_name)
    if name in own_zones:
        return own_zones[name]
    if (menu := _MENU.fullmatch(cleaned)) and (zone_name := _of_menu(menu.group(1))):
        return ZoneInfo(zone_name)
    if offset := _OFFSET.match(cleaned) if menu else _OFFSET.fullmatch(cleaned):
        return _fixed(offset)
    return None


def _fixed(offset: re.Match[str]) -> tzinfo | None:
    sign, hours, minutes = offset.groups()
    difference = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-difference if sign == "-" else difference) if difference < timedelta(hours=24) else None


def _of_menu(text: str) -> str | None:
    # An entry that names cities has the zone of its first city after which a zone is named.
    for place in (text, *text.split(",")):
        if zone_name := _MENU_ZONES.get(place.strip().casefold()) or _cities().get(place.strip().casefold()):
            return zone_name
    return None


@cache
def _names() -> dict[str, str]:
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # heavy; imported here so that the limits apply

    names = {name.casefold(): name for name in available_timezones()}
    return {**{windows.casefold(): name for windows, name in WINDOWS_TO_OLSON.items()}, **names, "z": "UTC"}


@cache
def _cities() -> dict[str, str]:
    areas = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
    return {
        name.rpartition("/")[2].replace("_", " ").casefold(): name
        for name in sorted(available_timezones())
        if name.startswith(areas)
    }


def zone_of_rules(lines: list[str]) -> tzinfo | None:
    """Return the zone that a VTIMEZONE describes; None if its rules cannot be read."""
    import icalendar

    if any(line.upper().startswith("TZOFFSET") and not _OFFSET_LINE.fullmatch(line.strip()) for line in lines):
        return None
    try:
        component = icalendar.Timezone.from_ical("\r\n".join(["BEGIN:VTIMEZONE", *lines, "END:VTIMEZONE", ""]))
        assert isinstance(component, icalendar.Timezone)
        zone = component.to_tz(lookup_tzid=False)
        is_usable = zone is not None and zone.utcoffset(datetime(2026, 1, 1)) is not None
    except Exception:  # a damaged rule may raise any of the library's errors
        return None
    return zone if is_usable else None
