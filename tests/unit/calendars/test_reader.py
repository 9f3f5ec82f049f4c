"""Calendars as Google, Outlook and others write them, and those that are made to do harm."""

from datetime import UTC, datetime, timedelta

import pytest

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
    at = "UID:{n}\nDTSTART:20260302T090000Z\n"
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


@pytest.mark.parametrize("broken", ["SUMMARY:no time", "DTSTART:x", "DTSTART:20260302T090000Z\nDURATION:-P1000000D"])
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
    [one] = await read_calendar(
        calendar(f"UID:a\nDTSTART:20260302T090000Z\nSUMMARY:Plan\nLOCATION:{MEET}"),
        since=NOW,
        until=UNTIL,
        choice=ALL,
    )
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
