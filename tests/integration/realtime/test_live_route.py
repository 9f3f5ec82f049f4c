"""GET /bot/{id}/live: the events of the sockets by plain requests."""

import asyncio
from typing import Any

import httpx2
import pytest

from harness.socket_room import Stage
from sederunt.api.sockets.meeting_events import MOST_EVENTS
from sederunt.bus import streams
from sederunt.bus.streams import FEED_AGE_S
from sederunt.database.outbox import Outbox
from sederunt.jobs.publish import sweep


async def live(stage: Stage, bot: dict[str, Any], **query: object) -> httpx2.Response:
    asked = {name: str(value) for name, value in query.items()}
    return await stage.room.client.get(f"/bot/{bot['id']}/live", params=asked)


def said(number: int) -> dict[str, Any]:
    return {
        "type": "ts",
        "data": {"segment_id": str(number), "transcript": f"{number}.", "start": number, "end": number},
    }


async def test_what_is_known_and_then_what_is_new(stage: Stage) -> None:
    bot = await stage.bot()
    await stage.tell(bot, said(1), said(2))
    known = (await live(stage, bot)).json()
    assert [event["type"] for event in known["data"]] == ["connected"]
    assert [line["transcript"] for line in known["data"][0]["data"]["transcripts"]] == ["1.", "2."]
    whole = (await live(stage, bot, since=0)).json()
    assert [event["data"]["transcript"] for event in whole["data"]] == ["1.", "2."]
    assert whole["next"] == known["next"] == whole["data"][-1]["seq"]
    nothing = (await live(stage, bot, since=known["next"])).json()
    assert nothing == {"data": [], "next": known["next"], "ended": False}

    waiting = asyncio.create_task(live(stage, bot, since=known["next"], wait=25))
    await stage.tell(bot, said(3))
    new = (await waiting).json()
    assert [event["data"]["transcript"] for event in new["data"]] == ["3."]


async def test_who_is_revoked_while_they_wait_hears_nothing_more(stage: Stage) -> None:
    bot = await stage.bot()
    text, leaked = await stage.room.keys.create(stage.room.account_id, "leaked")
    async with stage.room.client_of(text) as client:
        path = f"/bot/{bot['id']}/live"
        known = (await client.get(path)).json()
        await stage.tell(bot, said(1))
        await stage.room.keys.revoke(stage.room.account_id, leaked.id)  # the api believes its own answer for a while
        assert (await client.get(path, params={"since": known["next"], "wait": 25})).status_code == 401


async def test_much_comes_in_several_answers(stage: Stage) -> None:
    bot = await stage.bot()
    await stage.tell(bot, *(said(number) for number in range(MOST_EVENTS + 5)))
    first = (await live(stage, bot, since=0)).json()
    rest = (await live(stage, bot, since=first["next"])).json()
    assert (len(first["data"]), len(rest["data"])) == (MOST_EVENTS, 5)


async def test_a_bot_without_sockets_is_told_of_too_and_an_ended_one_is_over(stage: Stage) -> None:
    plain = await stage.bot(realtime_audio=False)
    await stage.tell(plain, {"type": "chat-message", "data": {"username": "Ada", "content": "Hello."}})
    assert [event["type"] for event in (await live(stage, plain, since=0)).json()["data"]] == ["chat-message"]
    ended = (await live(stage, await stage.bot("failed"), wait=25)).json()
    assert (ended["data"][0]["data"]["status"], ended["ended"]) == ("failed", True)


async def test_who_asks_without_waiting_is_told_that_a_bot_is_over(stage: Stage) -> None:
    bot = await stage.bot("failed")
    await sweep(stage.room.bus, Outbox(stage.room.database), older_than_s=0)
    assert not (await live(stage, bot, since=0)).json()["ended"]  # its listeners have seconds to hear the last of it
    stage.clock.advance(60)
    over = (await live(stage, bot, since=0)).json()
    assert (over["data"][-1]["data"]["new_status"], over["ended"]) == ("failed", True)
    assert (await live(stage, bot, since=over["next"])).json() == {"data": [], "next": over["next"], "ended": True}


async def test_who_comes_after_the_events_had_their_time_is_told_what_there_is(stage: Stage) -> None:
    """The first hours of a meeting go from the store before the last ones: what is left is not the meeting."""
    unheard, bot = await stage.bot("failed"), await stage.bot("failed")
    await stage.tell(bot, said(2))
    await sweep(stage.room.bus, Outbox(stage.room.database), older_than_s=0)
    stage.clock.advance(FEED_AGE_S)
    for since in (0, 7):
        late = (await live(stage, bot, since=since)).json()
        assert ([event["type"] for event in late["data"]], late["ended"]) == (["connected"], True)
    assert (await live(stage, bot, since=late["next"])).json() == {"data": [], "next": late["next"], "ended": True}
    await stage.room.bus.js.purge_stream(streams.FEEDS, subject=streams.events_subject(unheard["id"]))
    nothing_left = (await live(stage, unheard, since=0)).json()
    assert ([event["data"]["status"] for event in nothing_left["data"]], nothing_left["ended"]) == (["failed"], True)


@pytest.mark.parametrize(("name", "value"), [("since", "-1"), ("since", "x"), ("wait", "26"), ("wait", "1.5")])
async def test_what_is_no_number_is_refused_by_its_field(stage: Stage, name: str, value: str) -> None:
    refused = await live(stage, await stage.bot(), **{name: value})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [name])


async def test_nobody_else_hears_and_what_is_deleted_is_gone(stage: Stage) -> None:
    bot = await stage.bot("failed")
    async with await stage.room.other_account() as other:
        assert (await other.get(f"/bot/{bot['id']}/live")).status_code == 404
    await stage.room.client.delete(f"/bot/{bot['id']}")
    assert (await live(stage, bot)).status_code == 404
