"""Calendars as Google, Outlook and others write them, and those that are made to do harm."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.calendars.meeting import CalendarMeeting, FeedChoice, FeedRule, KnownMeeting, plan_of
from sederunt.calendars.reader import read_calendar
from sederunt.calendars.reader_child import told
from sederunt.database.ids import new_id
from sederunt.errors import DestinationError
from sederunt.model.bot import Service
from sederunt.platforms.registry import parse_link

NOW = datetime(2026, 3, 1, tzinfo=UTC)
UNTIL = NOW + timedelta(days=14)
ALL = FeedChoice(rule=FeedRule.ALL)
MEET = "https://meet.google.com/abc-defg-hij"
TEAMS = "https://teams.microsoft.com/l/meetup-join/19%3ameeting_abc%40thread.v2/0?context=%7b%22Tid%22%3a%2272f988bf-86f1-41af-91ab-2d7cd011db47%22%2c%22Oid%22%3a%2211111111-2222-3333-4444-555555555555%22%7d"


def calendar(*events: str) -> bytes:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tests//EN"]
    for event in events:
        lines += ["BEGIN:VEVENT", *event.strip().splitlines(), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def meetings(*events: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = told(calendar(*events), NOW, UNTIL, ALL)["meetings"]
    return found


def test_a_link_is_found_where_calendars_keep_it() -> None:
    at = "UID:{n}\nDTSTART:20260302T09{n:02}00Z\n"
    places = [
        f"X-GOOGLE-CONFERENCE:{MEET}\nLOCATION:Room 1",
        f"LOCATION:{MEET}",
        f'DESCRIPTION:Join here: <a href="{MEET}">{MEET}</a>\\nDial in',
        f"X-MICROSOFT-SKYPETEAMSMEETINGURL:{TEAMS}",
        "LOCATION:Room 1\nDESCRIPTION:see https://example.org/notes",
    ]
    found = meetings(*(at.format(n=n) + place for n, place in enumerate(places)))
    assert [(one["service"], one["meeting_url"]) for one in found] == [
        ("gmeet", MEET),
        ("gmeet", MEET),
        ("gmeet", MEET),
        ("teams", TEAMS),
    ]


def test_an_occurrence_keeps_its_name_when_it_is_moved_and_a_single_event_has_none() -> None:
    weekly = f"UID:w\nDTSTART;TZID=Europe/Berlin:20260302T100000\nRRULE:FREQ=WEEKLY\nLOCATION:{MEET}"
    moved = (
        "UID:w\nRECURRENCE-ID;TZID=Europe/Berlin:20260309T100000\n"
        f"DTSTART;TZID=Europe/Berlin:20260310T120000\nLOCATION:{MEET}"
    )
    before, after = meetings(weekly), meetings(weekly, moved)
    assert [one["starts_at"] for one in before] == ["2026-03-02T09:00:00+00:00", "2026-03-09T09:00:00+00:00"]
    assert after[1]["starts_at"] == "2026-03-10T11:00:00+00:00"
    assert [one["occurrence"] for one in before] == [one["occurrence"] for one in after]
    assert meetings(f"UID:s\nDTSTART:20260302T090000Z\nLOCATION:{MEET}")[0]["occurrence"] == ""


@pytest.mark.parametrize("how", ["STATUS:CANCELLED", "EXDATE:20260302T090000Z\nRRULE:FREQ=DAILY;COUNT=1"])
def test_what_was_cancelled_is_no_meeting(how: str) -> None:
    assert meetings(f"UID:c\nDTSTART:20260302T090000Z\nLOCATION:{MEET}\n{how}") == []


def test_days_and_meetings_elsewhere_in_time_are_left_out() -> None:
    assert meetings(f"UID:d\nDTSTART;VALUE=DATE:20260302\nLOCATION:{MEET}") == []
    assert meetings(f"UID:l\nDTSTART:20260402T090000Z\nLOCATION:{MEET}") == []


def test_who_declined_is_not_among_its_people() -> None:
    event = (
        f"UID:p\nDTSTART:20260302T090000Z\nLOCATION:{MEET}\nORGANIZER:MAILTO:Ada@Example.org\n"
        "ATTENDEE;PARTSTAT=DECLINED:mailto:bo@example.org\nATTENDEE;PARTSTAT=ACCEPTED:mailto:cy@example.org"
    )
    for name, found in (("Ada", 1), ("bo", 0), ("cy", 1)):
        choice = FeedChoice(rule=FeedRule.MINE, attendee=f"{name}@example.org")
        assert len(told(calendar(event), NOW, UNTIL, choice)["meetings"]) == found


def test_what_repeats_brings_neither_its_people_nor_its_text() -> None:
    """Three hundred kilobytes of attendees, every hour for two weeks, were a hundred megabytes in the worker."""
    people = "".join(f"ATTENDEE:mailto:{'a' * 290}{number}@example.org\n" for number in range(1_000))
    found = meetings(
        f"UID:p\nDTSTART:20260301T010000Z\nRRULE:FREQ=HOURLY\nLOCATION:{MEET}\nDESCRIPTION:{'d' * 20_000}\n{people}"
    )
    assert len(found) == 335
    assert len(str(found)) < 300 * len(found)


def test_a_title_has_no_controls() -> None:
    [one] = meetings(f"UID:t\nDTSTART:20260302T090000Z\nLOCATION:{MEET}\nSUMMARY:A\0B\x1b[31m\u00a0C\u200dD")
    assert one["title"] == "AB[31m C\u200dD"


@pytest.mark.parametrize("broken", ["SUMMARY:no time", "DTSTART:x"])
def test_a_broken_event_takes_no_other_with_it(broken: str) -> None:
    [one] = meetings(f"UID:b\nLOCATION:{MEET}\n{broken}", f"UID:g\nDTSTART:20260302T090000Z\nLOCATION:{MEET}")
    assert one["uid"] == "g"


_BOMBS = {
    "every second for ever": f"UID:b\nDTSTART:20260301T000000Z\nRRULE:FREQ=SECONDLY\nLOCATION:{MEET}",
    "since the year 1": f"UID:b\nDTSTART:00010101T000000Z\nRRULE:FREQ=SECONDLY\nLOCATION:{MEET}",
    "all seconds of a day": (
        f"UID:b\nDTSTART:20200101T000000Z\nLOCATION:{MEET}\nRRULE:FREQ=DAILY;BYHOUR="
        + ",".join(map(str, range(24)))
        + ";BYMINUTE="
        + ",".join(map(str, range(60)))
        + ";BYSECOND="
        + ",".join(map(str, range(60)))
    ),
}


@pytest.mark.parametrize("event", _BOMBS.values(), ids=_BOMBS)
async def test_endless_recurrences_cost_their_reader_alone(event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sederunt.calendars.reader.CPU_S", 1)
    with pytest.raises(DestinationError, match="calendar"):
        await read_calendar(calendar(event), since=NOW, until=UNTIL, choice=ALL)


@pytest.mark.parametrize("data", [b"", b"<html>Please sign in</html>", b"\x00\xff" * 1000, b"BEGIN:VCALENDAR\r\n"])
async def test_what_is_no_calendar_is_refused(data: bytes) -> None:
    with pytest.raises(DestinationError, match="no calendar"):
        await read_calendar(data, since=NOW, until=UNTIL, choice=ALL)


async def test_the_reader_brings_the_meetings_over() -> None:
    reading = await read_calendar(
        calendar(f"UID:a\nDTSTART:20260302T090000Z\nSUMMARY:Plan\nLOCATION:{MEET}"),
        since=NOW,
        until=UNTIL,
        choice=ALL,
    )
    [one] = reading.meetings
    assert (one.title, one.starts_at, one.service) == ("Plan", datetime(2026, 3, 2, 9, tzinfo=UTC), "gmeet")


def meeting(uid: str = "u", hours: float = 1, **fields: object) -> CalendarMeeting:
    values = {
        "uid": uid,
        "occurrence": "",
        "title": "Plan",
        "starts_at": NOW + timedelta(hours=hours),
        "service": "gmeet",
        "meeting_url": MEET,
    }
    return CalendarMeeting(**{**values, **fields})  # type: ignore[arg-type]


def known(of: CalendarMeeting, *, made: bool = True) -> KnownMeeting:
    return KnownMeeting(
        key=of.key,
        bot_id=new_id(NOW),
        made=made,
        title=of.title,
        starts_at=of.starts_at,
        meeting_url=of.meeting_url,
    )


def test_rules_choose() -> None:
    one = ["ada@example.org"], "Plan of the road"
    assert FeedChoice(rule=FeedRule.ALL).takes(*one)
    assert FeedChoice(rule=FeedRule.MINE, attendee="Ada@example.org").takes(*one)
    assert not FeedChoice(rule=FeedRule.MINE, attendee="bo@example.org").takes(*one)
    assert FeedChoice(rule=FeedRule.KEYWORD, keyword="ROAD").takes(*one)
    assert not FeedChoice(rule=FeedRule.KEYWORD, keyword="review").takes(*one)


def test_a_plan_makes_changes_and_cancels() -> None:
    new, same, moved, gone = meeting("new"), meeting("same"), meeting("moved", 3), meeting("gone")
    past, far = meeting("past", -1), meeting("far", 24 * 30)
    promised = meeting("promised")
    plan = plan_of(
        [new, same, moved, past, far, promised],
        [known(same), known(meeting("moved")), known(gone), known(past), known(far), known(promised, made=False)],
        now=NOW,
        until=UNTIL,
    )
    assert [one.uid for one in plan.make] == ["new", "promised"]
    assert [now.uid for _, now in plan.change] == ["moved"]
    assert [one.key for one in plan.cancel] == [gone.key]


ZOOM = "https://acme.zoom.us/j/81234567890"


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        (f"LOCATION:{ZOOM}\nDESCRIPTION:Join {ZOOM}?pwd=AbCdEf.1", f"{ZOOM}?pwd=AbCdEf.1"),
        (f"DESCRIPTION:{ZOOM}\\n\\nMeeting ID: 812 3456 7890\\nPasscode: 123456", f"{ZOOM} Passcode: 123456"),
        (f"LOCATION:{ZOOM}\nDESCRIPTION:Password: aB3!x https://example.org/map", f"{ZOOM} Passcode: aB3!x"),
        (
            "URL:https://teams.microsoft.com/meet/316652780345\nDESCRIPTION:Passcode: aB3cD4",
            "https://teams.microsoft.com/meet/316652780345 Passcode: aB3cD4",
        ),
        (
            "DESCRIPTION:Help: https://example.org/a\\nMeeting ID: 316 652 780 345 55\\nPasscode: aB3cD4",
            "Meeting ID: 31665278034555 Passcode: aB3cD4",
        ),
        (
            f"DESCRIPTION:Join https://urldefense.com/v3/__{ZOOM}?pwd=aB3.1__;!!Xy1zAbC!dEfGhIjKlMn$",
            f"{ZOOM}?pwd=aB3.1",
        ),
        ("LOCATION:meet.google.com/abc-defg-hij", MEET),
        ("LOCATION:http://meet.google.com/abc-defg-hij", MEET),
        ("LOCATION:HTTPS://MEET.GOOGLE.COM/ABC-DEFG-HIJ", "https://meet.google.com/ABC-DEFG-HIJ"),
        (f"DESCRIPTION:*Join: {ZOOM}?pwd=abc123*", f"{ZOOM}?pwd=abc123"),
        (f"DESCRIPTION:Join: {ZOOM}?pwd=abc123!", f"{ZOOM}?pwd=abc123"),
        (f"DESCRIPTION:{ZOOM}?pwd=abc123|", f"{ZOOM}?pwd=abc123"),
    ],
)
def test_the_texts_of_an_event_are_joined_to_one_link(lines: str, address: str) -> None:
    [one] = meetings(f"UID:j\nDTSTART:20260302T090000Z\n{lines}")
    assert one["meeting_url"] == address
    parse_link(Service(one["service"]), address)


def test_the_number_of_a_zoom_meeting_is_not_taken_for_one_of_teams() -> None:
    words = "DESCRIPTION:Meeting ID: 812 3456 7890\\nPasscode: 123456"
    assert meetings(f"UID:z\nDTSTART:20260302T090000Z\n{words}") == []


def read(*lines: str, zone: str = "", event: str = "") -> dict[str, Any]:
    """Read a calendar of these lines, an event, and a sound one after it."""
    body = ["BEGIN:VCALENDAR", "VERSION:2.0", *lines]
    body += ["BEGIN:VEVENT", "UID:a", "SUMMARY:A", *event.splitlines(), "END:VEVENT"] if event else []
    body += ["BEGIN:VEVENT", "UID:s", "SUMMARY:Sound", "DTSTART:20260303T120000Z", f"URL:{SOUND}", "END:VEVENT"]
    return told("\r\n".join([*body, "END:VCALENDAR", ""]).encode(), NOW, UNTIL, ALL, zone)


def starts(reading: dict[str, Any], title: str = "A") -> list[str]:
    return [one["starts_at"][:16] for one in reading["meetings"] if one["title"] == title]


SOUND = "https://meet.google.com/sou-ndgo-odx"
AT = f"DTSTART:20260302T090000Z\nLOCATION:{MEET}"


@pytest.mark.parametrize(
    ("event", "times", "warning"),
    [
        (f"{AT}\nX", ["2026-03-02T09:00"], "a line was set aside: X"),
        (f"{AT}\nSEQUENCE:", ["2026-03-02T09:00"], "SEQUENCE"),
        (f"{AT}\nDTEND:20260302T080000Z", ["2026-03-02T09:00"], "DTEND"),
        (f"{AT}\nDTEND;VALUE=DATE:20260302", ["2026-03-02T09:00"], "DTEND"),
        (f"{AT}\nDTEND:tomorrow", ["2026-03-02T09:00"], "DTEND"),
        (f"{AT}\nEXDATE:\nRRULE:FREQ=DAILY;COUNT=2", ["2026-03-02T09:00", "2026-03-03T09:00"], "EXDATE"),
        (f"{AT}\nEXDATE:20260303T090000Z,\nRRULE:FREQ=DAILY;COUNT=2", ["2026-03-02T09:00"], "EXDATE"),
        (f"{AT}\nRRULE:FREQ=SOMETIMES", ["2026-03-02T09:00"], "RRULE"),
        (f"{AT}\nRRULE:FREQ=DAILY;UNTIL=soon", ["2026-03-02T09:00"], "RRULE"),
        (f"{AT}\nRRULE:FREQ=DAILY;INTERVAL=0", ["2026-03-02T09:00"], "RRULE"),
        (f"{AT}\nRRUL:FREQ=DAILY", ["2026-03-02T09:00"], "a line was set aside: RRUL"),
        (f"{AT}\nSTATUS:CANCELD", ["2026-03-02T09:00"], "STATUS"),
        (f"{AT}\nDURATION:-P1000000D", ["2026-03-02T09:00"], "DURATION"),
        (f"{AT}\nDTSTART:20260304T090000Z", ["2026-03-02T09:00"], "a line was set aside: DTSTART"),
        (f"{AT}\nRECURRENCE-ID:x", [], "a changed date of the series"),
        (f"DTSTART:20261399T090000Z\nLOCATION:{MEET}", [], "has no beginning"),
    ],
)
def test_a_damaged_property_is_set_aside_and_named(event: str, times: list[str], warning: str) -> None:
    reading = read(event=event)
    assert starts(reading) == times
    assert starts(reading, "Sound") == ["2026-03-03T12:00"]
    assert any("“A”" in text and warning in text for text in reading["warnings"]), reading["warnings"]


@pytest.mark.parametrize("until", ["20260309", "20260309T140000", "20260309T140000Z"])
def test_the_last_date_of_a_series_is_kept_whatever_its_end_is_written_as(until: str) -> None:
    event = f"DTSTART;TZID=Europe/London:20260302T140000\nRRULE:FREQ=WEEKLY;UNTIL={until}\nLOCATION:{MEET}"
    assert starts(read(event=event)) == ["2026-03-02T14:00", "2026-03-09T14:00"]


CUSTOM_ZONE = (
    *("BEGIN:VTIMEZONE", "TZID:tzone://Microsoft/Custom", "BEGIN:STANDARD", "DTSTART:16010101T000000"),
    *("TZOFFSETFROM:+0530", "TZOFFSETTO:+0530", "END:STANDARD", "END:VTIMEZONE"),
)


@pytest.mark.parametrize(
    ("head", "zone", "start", "time", "is_a_guess"),
    [
        (("X-WR-TIMEZONE:W. Europe Standard Time",), "", "DTSTART:20260302T090000Z", "09:00", False),
        (("X-WR-TIMEZONE:",), "", "DTSTART:20260302T090000Z", "09:00", False),
        (("X-WR-TIMEZONE:GMT+0200",), "", "DTSTART:20260302T090000Z", "09:00", False),
        (("X-WR-TIMEZONE:W. Europe Standard Time",), "", "DTSTART:20260302T090000", "08:00", False),
        (("X-WR-TIMEZONE:Nowhere",), "", "DTSTART:20260302T090000", "09:00", True),
        ((), "Asia/Tokyo", "DTSTART:20260302T090000", "00:00", False),
        ((), "", "DTSTART:20260302T090000", "09:00", True),
        (CUSTOM_ZONE, "", "DTSTART:20260302T090000", "03:30", True),
        (CUSTOM_ZONE, "", "DTSTART;TZID=tzone://Microsoft/Custom:20260302T090000", "03:30", False),
        ((), "", "DTSTART;TZID=GMT-0500:20260302T090000", "14:00", False),
        ((), "", "DTSTART;TZID=+05:30:20260302T090000", "03:30", False),
        ((), "", 'DTSTART;TZID="(UTC-05:00) Eastern Time (US & Canada)":20260302T090000', "14:00", False),
        ((), "", 'DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin, Rome":20260302T090000', "08:00", False),
        ((), "", "DTSTART;TZID=romance standard time:20260302T090000", "08:00", False),
        ((), "", "DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260302T090000", "08:00", False),
        ((), "Asia/Tokyo", "DTSTART;TZID=Customized Time Zone:20260302T090000", "00:00", True),
        (
            ("BEGIN:VTIMEZONE", "TZID:Ours", "END:VTIMEZONE"),
            *("", "DTSTART;TZID=Ours:20260302T090000", "09:00", True),
        ),
    ],
)
def test_a_time_is_read_in_its_zone_and_a_guess_is_told(
    head: tuple[str, ...], zone: str, start: str, time: str, is_a_guess: bool
) -> None:
    reading = read(*head, zone=zone, event=f"{start}\nLOCATION:{MEET}")
    assert starts(reading) == [f"2026-03-02T{time}"]
    assert bool(reading["warnings"]) == is_a_guess, reading["warnings"]


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        ("EXDATE;VALUE=DATE:20260303", ["2026-03-02T09:00", "2026-03-04T09:00"]),
        ("EXDATE:20260303T090000Z", ["2026-03-02T09:00", "2026-03-04T09:00"]),
        ("RDATE:20260306T090000Z", ["2026-03-02T09:00", "2026-03-03T09:00", "2026-03-04T09:00", "2026-03-06T09:00"]),
        ("BEGIN:VALARM\nTRIGGER:-PT5M\nDESCRIPTION:x\nEND:VALARM\nEXDATE:20260303T090000Z,20260304T090000Z", None),
    ],
)
def test_dates_that_a_series_leaves_out_or_adds_are_followed(lines: str, times: list[str] | None) -> None:
    reading = read(event=f"{AT}\nRRULE:FREQ=DAILY;COUNT=3\n{lines}")
    assert sorted(starts(reading)) == (times or ["2026-03-02T09:00"])
    assert reading["warnings"] == []


def test_rules_of_a_time_zone_with_an_offset_that_is_none_are_set_aside() -> None:
    zone = [line.replace("TZOFFSETTO:+0530", "TZOFFSETTO:+053") for line in CUSTOM_ZONE]
    reading = read(*zone, event=f"DTSTART;TZID=tzone://Microsoft/Custom:20260302T090000\nLOCATION:{MEET}")
    assert starts(reading) == ["2026-03-02T09:00"]
    assert any("VTIMEZONE" in text for text in reading["warnings"])


def test_an_alarm_without_its_end_is_told() -> None:
    reading = read(event=f"{AT}\nBEGIN:VALARM\nTRIGGER:-PT5M\nEND:VALRM\nSTATUS:CANCELLED")
    assert any("END:VALARM" in text for text in reading["warnings"])


def test_what_gets_no_bot_is_listed_with_its_reason() -> None:
    at = "UID:{}\nSUMMARY:{}\nDTSTART:20260302T090000Z\n"
    rows = [
        ("Canceled: Review", f"LOCATION:{MEET}\nTRANSP:TRANSPARENT\nX-MICROSOFT-CDO-BUSYSTATUS:FREE", "cancelled"),
        ("Same", f"LOCATION:{MEET}", ""),
        ("Same", f"LOCATION:{MEET}", "another event is the same meeting"),
        ("Slip", "LOCATION:https://zoom.us/j/12", "link not understood"),
        ("Lunch", "LOCATION:Canteen", "no link"),
    ]
    events = [at.format(number, title) + more for number, (title, more, _) in enumerate(rows)]
    reading = told(calendar(*events), NOW, UNTIL, ALL)
    assert [one["title"] for one in reading["meetings"]] == ["Same"]
    reasons = [reason for _, _, reason in rows if reason]
    assert len(reading["left_out"]) == len(reasons)
    for one, reason in zip(reading["left_out"], reasons, strict=True):
        assert one["reason"].startswith(reason)


def test_an_organiser_who_has_declined_does_not_come() -> None:
    event = (
        f"UID:o\nDTSTART:20260302T090000Z\nLOCATION:{MEET}\nORGANIZER:mailto:ada@example.org\n"
        "ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.org"
    )
    choice = FeedChoice(rule=FeedRule.MINE, attendee="ada@example.org")
    assert told(calendar(event), NOW, UNTIL, choice)["meetings"] == []


WHOLE = "\r\n".join(
    [
        *("BEGIN:VCALENDAR", "VERSION:2.0", *CUSTOM_ZONE),
        *("BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART;TZID=tzone://Microsoft/Custom:20260302T090000"),
        *("DTEND;TZID=tzone://Microsoft/Custom:20260302T100000", "SEQUENCE:1", "RRULE:FREQ=WEEKLY;COUNT=2"),
        *("EXDATE;TZID=tzone://Microsoft/Custom:20260309T090000", f"LOCATION:{MEET}", "END:VEVENT"),
        *("BEGIN:VEVENT", "UID:s", "SUMMARY:Sound", "DTSTART:20260303T120000Z", f"URL:{SOUND}", "END:VEVENT"),
        *("END:VCALENDAR", ""),
    ]
).splitlines()
IN_THE_FIRST_EVENT = range(WHOLE.index("UID:a"), WHOLE.index(f"LOCATION:{MEET}") + 1)
STRUCTURE = [n for n, line in enumerate(WHOLE) if line.startswith(("BEGIN", "END:", "T"))]
damages = st.sampled_from(["cut", "repeat", "fold", "letters"])


def damaged(number: int, damage: str, place: int, letters: str) -> bytes:
    lines = list(WHOLE)
    line = lines[number]
    place %= len(line)
    lines[number] = {
        "cut": line[:place],
        "repeat": f"{line}\r\n{line}",
        "fold": f"{line[:place]}\r\n{line[place:]}",
        "letters": line[:place] + letters + line[place + 1 :],
    }[damage]
    return "\r\n".join([*lines, ""]).encode("utf-8", "replace")


@given(st.sampled_from(IN_THE_FIRST_EVENT), damages, st.integers(0, 99), st.text('AZ09:;,="\\\0é ', max_size=4))
def test_a_damaged_line_of_an_event_changes_its_own_bots_at_most(number: int, damage: str, at: int, put: str) -> None:
    reading = told(damaged(number, damage, at, put), NOW, UNTIL, ALL)
    assert starts(reading, "Sound") == ["2026-03-03T12:00"]


@given(st.sampled_from(STRUCTURE), damages, st.integers(0, 99), st.text('AZ09:;,="\\\0é ', max_size=4))
def test_damaged_structure_never_empties_a_calendar_in_silence(number: int, damage: str, at: int, put: str) -> None:
    reading = told(damaged(number, damage, at, put), NOW, UNTIL, ALL)
    if "fault" not in reading and len(reading["meetings"]) < 2:
        assert reading["warnings"]
