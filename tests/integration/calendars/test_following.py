"""Calendars become scheduled bots: made once, moved, cancelled; whatever the calendar's server does."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from harness.api_room import ApiRoom
from harness.fake_clock import FakeClock
from harness.file_server import Files
from sederunt.accounts.sealing import load_sealer
from sederunt.bus.tasks import end
from sederunt.calendars import follower as following
from sederunt.calendars.follower import EVERY, CalendarFollower
from sederunt.calendars.meeting import CalendarMeeting, CalendarReading
from sederunt.calendars.reader import read_calendar
from sederunt.calendars.reader_child import told
from sederunt.database.calendars import _MOST_DUE, CalendarFeeds
from sederunt.model.status import StopReason, Trigger

MEET = "https://meet.google.com/abc-defg-hij"
OTHER = "https://meet.google.com/xyz-defg-hij"


def calendar(room: ApiRoom, **events: tuple[float, str]) -> bytes:
    """Events by id: in how many hours, and further lines."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tests//EN"]
    for uid, (hours, more) in events.items():
        at = room.clock.now() + timedelta(hours=hours)
        lines += ["BEGIN:VEVENT", f"UID:{uid}", f"DTSTART:{at:%Y%m%dT%H%M%SZ}", *more.splitlines(), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


async def added(room: ApiRoom, address: str, **fields: Any) -> dict[str, Any]:
    body = {"name": "Mine", "calendar_url": address, **fields}
    answer = await room.client.post("/calendar-feed", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def look(room: ApiRoom, clock: FakeClock, *, most: int | None = None) -> int:
    """What a worker does when the next look is due; an account may have so many bots scheduled."""
    clock.advance(EVERY.total_seconds())
    feeds, sealer = CalendarFeeds(room.database), load_sealer(room.settings)
    return await CalendarFollower(feeds, room.bots, sealer, clock, allow_private=True, most=most).look_at_due()


async def scheduled(room: ApiRoom) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await room.client.get("/bot/scheduled")).json()
    return found


async def test_meetings_become_bots_once_are_moved_and_cancelled(room: ApiRoom, clock: FakeClock, files: Files) -> None:
    at = f"LOCATION:{MEET}\nSUMMARY:Plan"
    address = files.give("/s3cret/basic.ics", calendar(room, one=(5, at), two=(6, f"LOCATION:{OTHER}")))
    feed = await added(room, address, bot_name="Scribe", transcription_model="none")
    assert "s3cret" not in str(feed)
    assert await look(room, clock) == 1
    first, second = await scheduled(room)
    assert (first["bot_name"], first["meeting_url"]) == ("Scribe", MEET)
    assert first["custom_metadata"] == {"calendar_event": "Plan"}
    await look(room, clock)
    assert len(await scheduled(room)) == 2
    files.give("/s3cret/basic.ics", calendar(room, one=(9, at)))
    await look(room, clock)
    [moved] = await scheduled(room)
    assert moved["id"] == first["id"]
    assert moved["scheduled_for"] > second["scheduled_for"]
    listed = (await room.client.get("/calendar-feed")).json()["data"]
    assert [(one["title"], one["bot_id"]) for one in listed[0]["meetings"]] == [("Plan", first["id"])]
    assert "s3cret" not in str(listed)
    assert (await room.client.delete(f"/calendar-feed/{feed['id']}")).status_code == 200
    assert await scheduled(room) == []


async def test_an_event_in_two_calendars_has_one_bot(room: ApiRoom, clock: FakeClock, files: Files) -> None:
    same = calendar(room, one=(5, f"LOCATION:{MEET}"))
    for name in ("ada", "bo"):
        await added(room, files.give(f"/{name}.ics", same))
    assert await look(room, clock) == 2
    assert len(await scheduled(room)) == 1


async def test_a_promise_that_a_crash_left_is_kept_and_a_bot_cancelled_by_hand_stays_so(
    room: ApiRoom, clock: FakeClock, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}"))))

    def crash(*_: object) -> None:
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr(following, "config_of", crash)
        with pytest.raises(RuntimeError):
            await look(room, clock)
    assert await scheduled(room) == []
    await look(room, clock)
    [bot] = await scheduled(room)
    await room.client.delete(f"/bot/{bot['id']}")
    files.give("/a.ics", calendar(room, one=(7, f"LOCATION:{MEET}")))
    await look(room, clock)
    assert await scheduled(room) == []


async def test_a_server_that_fails_changes_nothing_and_is_told(room: ApiRoom, clock: FakeClock, files: Files) -> None:
    feed = await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}"))))
    await look(room, clock)
    for status, body in ((500, b""), (200, b"<html>Sign in</html>"), (200, b"x" * (following.MOST_BYTES + 1))):
        files.give("/a.ics", body, status)
        await room.client.post(f"/calendar-feed/{feed['id']}/check")
        await look(room, clock)
        assert len(await scheduled(room)) == 1
        assert (await room.client.get(f"/calendar-feed/{feed['id']}")).json()["fault"]


async def test_a_calendar_that_did_not_change_is_read_whole_once_an_hour(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    feed = await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}")), ETag='"7"'))
    for _ in range(25):  # two hours
        await look(room, clock)
    assert len(files.asked) - len(files.unchanged) == 3
    found = (await room.client.get(f"/calendar-feed/{feed['id']}")).json()
    assert (found["fault"], len(found["meetings"]), len(await scheduled(room))) == (None, 1, 1)
    assert clock.now() - datetime.fromisoformat(found["checked_at"]) < EVERY


async def test_a_series_in_a_calendar_that_never_changes_goes_on_after_two_weeks(
    room: ApiRoom, clock: FakeClock, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_here(data: bytes, **asked: Any) -> CalendarReading:  # a process for each would take minutes
        found = told(data, asked["since"], asked["until"], asked["choice"])["meetings"]
        meetings = [CalendarMeeting(**{**one, "starts_at": datetime.fromisoformat(one["starts_at"])}) for one in found]
        return CalendarReading(meetings=meetings, left_out=[], warnings=[])

    monkeypatch.setattr(following, "read_calendar", read_here)
    series = calendar(room, weekly=(5, f"LOCATION:{MEET}\nRRULE:FREQ=WEEKLY"))
    await added(room, files.give("/a.ics", series, ETag='"7"'))
    await look(room, clock)
    known = {bot["id"] for bot in await scheduled(room)}
    until = clock.now() + timedelta(days=15)
    while clock.now() < until:
        clock.advance(55 * 60 - EVERY.total_seconds())  # each look within an hour of the one before
        await look(room, clock)
    later = [bot for bot in await scheduled(room) if bot["id"] not in known]
    assert len(known) == 2
    assert len(later) == 3
    assert files.unchanged


@pytest.mark.parametrize("removed", [True, False], ids=["the feed", "the event"])
async def test_a_meeting_that_one_calendar_loses_gets_a_bot_by_another_that_has_it_unchanged(
    room: ApiRoom, clock: FakeClock, files: Files, removed: bool
) -> None:
    same = calendar(room, one=(5, f"LOCATION:{MEET}"))
    first = await added(room, files.give("/ada.ics", same, ETag='"1"'))
    await look(room, clock)
    await added(room, files.give("/bo.ics", same, ETag='"2"'))
    await look(room, clock)
    await look(room, clock)
    [bot] = await scheduled(room)
    if removed:
        await room.client.delete(f"/calendar-feed/{first['id']}")
    else:
        files.give("/ada.ics", calendar(room))
        clock.advance(1)
        await look(room, clock)
    clock.advance(1 - EVERY.total_seconds())  # at once, not at its next turn
    await look(room, clock)
    [anew] = await scheduled(room)
    assert (anew["meeting_url"], anew["id"] == bot["id"]) == (MEET, False)


async def test_a_calendar_that_is_asked_for_while_it_is_read_is_read_whole_the_next_time(
    room: ApiRoom, clock: FakeClock, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}")), ETag='"7"'))

    async def meanwhile(*given: Any, **asked: Any) -> CalendarReading:
        await room.client.post(f"/calendar-feed/{feed['id']}/check")
        return await read_calendar(*given, **asked)

    with monkeypatch.context() as patched:
        patched.setattr(following, "read_calendar", meanwhile)
        await look(room, clock)
    await look(room, clock)
    assert (len(files.asked), files.unchanged) == (2, [])


async def test_at_a_limit_meetings_are_cancelled_and_moved_all_the_same(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    at = f"LOCATION:{MEET}"
    feed = await added(room, files.give("/a.ics", calendar(room, gone=(5, at), moved=(6, at))))
    await look(room, clock)
    _, moved = await scheduled(room)
    files.give("/a.ics", calendar(room, moved=(9, at), new=(7, at)))
    await look(room, clock, most=2)
    [left] = await scheduled(room)  # the place that became free is given away once housekeeping was there
    assert (left["id"], left["scheduled_for"] > moved["scheduled_for"]) == (moved["id"], True)
    assert "2" in (await room.client.get(f"/calendar-feed/{feed['id']}")).json()["fault"]


async def test_a_meeting_that_has_begun_keeps_its_bot(room: ApiRoom, clock: FakeClock, files: Files) -> None:
    await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}"))))
    await look(room, clock)
    [bot] = await scheduled(room)
    await room.bots.record_transition(UUID(bot["id"]), Trigger.DUE)
    files.give("/a.ics", calendar(room))
    await look(room, clock)
    assert (await room.look(bot))["status"] == "booting"


async def test_a_meeting_that_is_postponed_after_its_bot_has_ended_gets_another(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    at = f"LOCATION:{MEET}"
    feed = await added(room, files.give("/a.ics", calendar(room, one=(0.5, at)), ETag='"1"'))
    await look(room, clock)
    [bot] = await scheduled(room)
    await room.bots.record_transition(UUID(bot["id"]), Trigger.DUE)
    clock.advance(1500)
    files.give("/a.ics", calendar(room, one=(2, at)), ETag='"2"')
    await look(room, clock)
    assert await scheduled(room) == []  # while it knocks, another would be one too many
    await room.bots.record_transition(UUID(bot["id"]), Trigger.REFUSED, reason=StopReason.WAITING_ROOM_TIMEOUT)
    await look(room, clock)
    [another] = await scheduled(room)
    assert (another["id"] == bot["id"], another["meeting_url"]) == (False, MEET)
    assert another["scheduled_for"] > bot["scheduled_for"]
    [listed] = (await room.client.get(f"/calendar-feed/{feed['id']}")).json()["meetings"]
    assert (listed["bot_id"], listed["starts_at"]) == (another["id"], another["scheduled_for"])
    await look(room, clock)
    assert len(await scheduled(room)) == 1
    await room.client.delete(f"/bot/{another['id']}")
    files.give("/a.ics", calendar(room, one=(4, at)), ETag='"3"')
    await look(room, clock)
    assert await scheduled(room) == []


async def test_a_meeting_whose_name_alone_changes_after_its_bot_has_ended_gets_no_other(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    await added(room, files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}\nSUMMARY:Plan"))))
    await look(room, clock)
    [bot] = await scheduled(room)
    await room.bots.record_transition(UUID(bot["id"]), Trigger.DUE)  # somebody sent it early
    await room.bots.record_transition(UUID(bot["id"]), Trigger.STOPPED)
    files.give("/a.ics", files.answers["/a.ics"][1].replace(b"Plan", b"Other plan"))
    await look(room, clock)
    assert await scheduled(room) == []


async def test_an_account_whose_servers_never_answer_keeps_up_no_other_account(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    silence = asyncio.Event()

    async def keep_silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silence.wait()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as server, await room.other_account() as other:
        port = server.sockets[0].getsockname()[1]
        for number in range(_MOST_DUE + 1):
            await added(room, f"http://127.0.0.1:{port}/{number}.ics")
        address = files.give("/a.ics", calendar(room, one=(5, f"LOCATION:{MEET}")))
        await other.post("/calendar-feed", json={"name": "Ours", "calendar_url": address})
        feeds = CalendarFeeds(room.database)
        follower = CalendarFollower(feeds, room.bots, load_sealer(room.settings), clock, allow_private=True)
        following_on = asyncio.create_task(follower.run())
        async with asyncio.timeout(120):
            while not (await other.get("/bot/scheduled")).json():  # noqa: ASYNC110 - only answers tell
                await asyncio.sleep(0.05)
        assert not following_on.done()
        await end(following_on)
        silence.set()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"calendar_url": "ftp://a.example/b.ics"}, "calendar_url"),
        ({"rule": "mine"}, "attendee"),
        ({"rule": "keyword"}, "keyword"),
        ({"rule": "some"}, "rule"),
        ({"time_zone": "Nowhere"}, "time_zone"),
        ({"transcription_model": "telepathy"}, "transcription_model"),
    ],
)
async def test_what_cannot_be_followed_is_told_by_field(room: ApiRoom, body: dict[str, Any], field: str) -> None:
    given = {"name": "Mine", "calendar_url": "https://a.example/b.ics", **body}
    answer = await room.client.post("/calendar-feed", json=given)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


async def test_a_feed_tells_what_it_set_aside_and_what_gets_no_bot(
    room: ApiRoom, clock: FakeClock, files: Files
) -> None:
    data = calendar(
        room,
        one=(5, f"LOCATION:{MEET}\nSUMMARY:Plan\nSEQUENCE:"),
        two=(6, "SUMMARY:Lunch"),
    )
    feed = await added(room, files.give("/a.ics", data), time_zone="W. Europe Standard Time")
    assert (feed["warnings"], feed["left_out"], feed["time_zone"]) == ([], [], "W. Europe Standard Time")
    await look(room, clock)
    found = (await room.client.get(f"/calendar-feed/{feed['id']}")).json()
    assert found["fault"] is None
    assert [one["title"] for one in found["meetings"]] == ["Plan"]
    assert [(one["title"], one["reason"]) for one in found["left_out"]] == [("Lunch", "no link")]
    [warning] = found["warnings"]
    assert "SEQUENCE" in warning
