"""The sockets of a bot on a real server: who may open them, what they tell, what they take, how they end."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed, InvalidStatus

from harness.api_room import GOOD_BOT, on_a_socket
from harness.console_room import visitor
from harness.listener import Listener, listening
from harness.socket_room import SOCKETS_PER_ACCOUNT, Stage
from sederunt.accounts.keys import Scope
from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.api.sockets import endpoints
from sederunt.api.sockets.endpoints import FRAMES_PER_MINUTE, MOST_ORDERS
from sederunt.bus import feeds
from sederunt.database import tables as t
from sederunt.database.outbox import Outbox
from sederunt.jobs.publish import sweep
from sederunt.model.budgets import count_of
from sederunt.model.status import Trigger
from sederunt.model.transcript import Segment, Transcript
from sederunt.realtime.hub import LINGER_S, LOOK_S, PING_S
from sederunt.realtime.messages import DELETED, ENDED, REVOKED

SOCKETS = ("websocket_url", "websocket_read_only_url", "websocket_audio_url")


def ts(number: int) -> dict[str, Any]:
    data = {"segment_id": str(number), "transcript": f"Sentence {number}.", "start": number, "end": number + 1}
    return {"type": "ts", "data": {**data, "speaker": 0, "speaker_name": None}}


async def refusal(address: str) -> tuple[int, dict[str, Any]]:
    """(status, body) with which a handshake is refused."""
    with pytest.raises(InvalidStatus) as refused:
        async with listening(address):
            pass
    response = refused.value.response
    return response.status_code, json.loads(response.body or b"{}")


# Who may listen


async def test_a_handshake_that_is_refused_says_why(stage: Stage) -> None:
    bot, other, plain = await stage.bot(), await stage.bot(), await stage.bot(realtime_audio=False)
    address = stage.address(bot)
    wrong = await refusal(address[:-3] + "AAA")
    assert wrong == (401, {"message": "Unauthenticated."})
    assert (await refusal(address.replace(bot["id"], other["id"])))[0] == 401
    assert (await refusal(address.replace("/events/", "/audio/")))[0] == 401
    for gone in (address.replace(bot["id"], str(UUID(int=7))), address.replace(bot["id"], "x"), address + "/more"):
        status, body = await refusal(gone)
        assert (status, list(body)) == (404, ["message"]), gone
    assert (await refusal(address.replace(bot["id"], plain["id"])))[0] == 404
    assert (await refusal("x".join(address.rsplit(".", 1))))[0] == 401
    for since in ("-1", "soon", "1.5", "9" * 30):
        status, body = await refusal(f"{address}?since={since}")
        assert (status, list(body["errors"])) == (400, ["since"])


async def test_a_key_that_is_revoked_takes_its_addresses_with_it(stage: Stage) -> None:
    bot = await stage.bot()
    text, kept = await stage.room.keys.create(stage.room.account_id, "leaked")
    async with stage.room.client_of(text) as leaked, AsyncExitStack() as stack:
        shown = (await leaked.get(f"/bot/{bot['id']}")).json()
        assert shown["websocket_url"] != bot["websocket_url"]
        doomed = [await stack.enter_async_context(stage.listen(shown, kind)) for kind in SOCKETS]
        other = await stack.enter_async_context(stage.listen(bot))
        assert (await other.next())["type"] == "connected"
        await stage.room.keys.revoke(stage.room.account_id, kept.id)
        assert [(await listener.closed())[0] for listener in doomed] == [REVOKED.code] * 3
        assert {(await refusal(stage.address(shown, kind)))[0] for kind in SOCKETS} == {401}
        await stage.tell(bot, ts(1))
        assert (await other.next())["data"]["transcript"] == "Sentence 1."


@pytest.mark.parametrize(
    ("scopes", "opened"),
    [
        ({Scope.WRITE}, ()),
        ({Scope.WRITE, Scope.LIVE, Scope.ADMIN}, ()),
        ({Scope.WRITE, Scope.READ}, SOCKETS[1:]),
        ({Scope.WRITE, Scope.READ, Scope.LIVE}, SOCKETS),
    ],
)
async def test_a_key_without_read_is_told_no_address_and_opens_none(
    stage: Stage, scopes: set[Scope], opened: tuple[str, ...]
) -> None:
    text, key = await stage.room.keys.create(stage.room.account_id, "everything")
    limited, _ = await stage.room.keys.create(stage.room.account_id, "limited", scopes=scopes)
    wish = {**GOOD_BOT, "realtime_audio": True}
    async with stage.room.client_of(text) as everything, stage.room.client_of(limited) as client:
        shown = (await everything.post("/bot", json=wish)).json()
        assert [kind for kind in SOCKETS if (await client.post("/bot", json=wish)).json()[kind]] == list(opened)
    # An address that an earlier version told to such a key.
    async with stage.room.database.begin() as connection:
        await connection.execute(update(t.api_keys).where(t.api_keys.c.id == key.id).values(scopes=" ".join(scopes)))
    for kind in SOCKETS:
        if kind in opened:
            async with stage.listen(shown, kind):
                pass
        else:
            assert (await refusal(stage.address(shown, kind)))[0] == 401, kind


async def test_a_key_that_expires_takes_its_addresses_with_it(stage: Stage) -> None:
    bot = await stage.bot()
    soon = stage.clock.now() + timedelta(hours=1)
    text, _ = await stage.room.keys.create(stage.room.account_id, "for an hour", expires_at=soon)
    async with stage.room.client_of(text) as client:
        shown = (await client.get(f"/bot/{bot['id']}")).json()
    async with stage.listen(shown) as listener:
        stage.clock.advance(3601)
        assert (await listener.closed())[0] == REVOKED.code


@pytest.mark.parametrize("end", ["removed", "signed out", "looks only"])
async def test_what_a_person_was_shown_ends_with_the_session_and_the_right(stage: Stage, end: str) -> None:
    bot, people = await stage.bot(), SignIns(stage.room.database).people
    await visitor(stage.room)  # an account needs an owner
    shown_to = await visitor(stage.room, MemberRole.MEMBER)
    shown = (await shown_to.client.get(f"/api/v1/bot/{bot['id']}")).json()
    host = urlsplit(shown["websocket_url"]).netloc
    addresses = [shown[kind].replace(host, f"127.0.0.1:{stage.port}") for kind in SOCKETS]
    async with AsyncExitStack() as stack:
        open_ones = [await stack.enter_async_context(listening(address)) for address in addresses]
        other = await stack.enter_async_context(stage.listen(bot))
        assert (await other.next())["type"] == "connected"
        [person] = [one.id for one in await people.of_account(stage.room.account_id) if one.role == MemberRole.MEMBER]
        if end == "removed":
            await people.change_role(person, stage.room.account_id, None)
        elif end == "signed out":
            await people.end_sessions(person)
        else:
            await people.change_role(person, stage.room.account_id, MemberRole.VIEWER)
        doomed = 1 if end == "looks only" else 3
        assert [(await one.closed())[0] for one in open_ones[:doomed]] == [REVOKED.code] * doomed
        assert {(await refusal(address))[0] for address in addresses[:doomed]} == {401}
        await stage.tell(bot, ts(1))
        assert (await other.next())["data"]["transcript"] == "Sentence 1."
        if end == "looks only":
            assert (await open_ones[1].next())["type"] == "connected"


async def test_an_account_has_so_many_sockets_and_others_have_theirs(stage: Stage) -> None:
    bot = await stage.bot()
    async with AsyncExitStack() as stack:
        for _ in range(SOCKETS_PER_ACCOUNT):
            await stack.enter_async_context(stage.listen(bot))
        status, body = await refusal(stage.address(bot))
        assert (status, str(SOCKETS_PER_ACCOUNT) in body["message"]) == (429, True)
    async with stage.listen(bot) as listener:
        assert (await listener.next())["type"] == "connected"


async def test_a_deleted_bot_has_no_sockets_and_who_listened_is_told(stage: Stage) -> None:
    bot = await stage.bot("scheduled")
    async with stage.listen(bot) as listener, stage.listen(bot, "websocket_audio_url") as audio:
        assert (await listener.next())["data"]["status"] == "scheduled"
        assert (await stage.room.client.delete(f"/bot/{bot['id']}")).status_code == 200
        await stage.pass_time(LOOK_S)
        assert await listener.closed() == (DELETED.code, DELETED.reason)
        assert await audio.closed() == (DELETED.code, DELETED.reason)
    for kind in SOCKETS:
        assert (await refusal(stage.address(bot, kind)))[0] == 404


# What is told


async def test_a_listener_hears_what_was_and_then_what_comes(stage: Stage) -> None:
    bot = await stage.bot()
    await stage.tell(bot, ts(1), ts(2))
    async with stage.listen(bot) as listener, stage.listen(bot, "websocket_read_only_url") as reader:
        await stage.tell(bot, ts(3), {"type": "start"})
        for one in (listener, reader):
            connected = await one.next()
            assert connected["type"] == "connected"
            assert [segment["transcript"] for segment in connected["data"]["transcripts"]] == [
                "Sentence 1.",
                "Sentence 2.",
            ]
            third, start = await one.next(), await one.next()
            assert third == {**ts(3), "seq": third["seq"]}
            assert start == {"type": "start", "seq": start["seq"]}
            assert connected["seq"] < third["seq"] < start["seq"]


async def test_who_comes_between_a_change_and_its_publishing_hears_of_it_as_a_change(stage: Stage) -> None:
    bot = await stage.bot("joining")  # so says its row; nobody has published that yet
    async with stage.listen(bot) as listener:
        assert (await listener.next())["data"]["status"] == "booting"
        await sweep(stage.room.bus, Outbox(stage.room.database), older_than_s=0)
        assert (await listener.next())["data"] == {"old_status": "booting", "new_status": "joining"}
    async with stage.listen(bot) as listener, stage.listen(bot, since=0) as earlier:
        assert (await listener.next())["data"]["status"] == "joining"
        assert (await earlier.next())["data"]["status"] == "booting"


async def test_where_the_events_are_lost_the_row_tells_the_status(stage: Stage) -> None:
    bot = await stage.bot("joining")
    outbox = Outbox(stage.room.database)
    await outbox.mark_sent([row.id for row in await outbox.unsent()])
    async with stage.listen(bot) as listener:
        assert (await listener.next())["data"]["status"] == "joining"


async def test_a_listener_resumes_where_it_was(stage: Stage) -> None:
    bot = await stage.bot()
    await stage.tell(bot, *map(ts, range(5)))
    async with stage.listen(bot, since=0) as listener:
        connected = await listener.next()
        assert (connected["data"]["transcripts"], connected["seq"]) == ([], 0)
        seen = [await listener.next() for _ in range(3)]
    async with stage.listen(bot, since=seen[-1]["seq"]) as again:
        connected = await again.next()
        assert [segment["segment_id"] for segment in connected["data"]["transcripts"]] == ["0", "1", "2"]
        assert [(await again.next())["data"]["segment_id"] for _ in range(2)] == ["3", "4"]
    async with stage.listen(bot, since=10**15) as stranger:
        connected = await stranger.next()
        assert len(connected["data"]["transcripts"]) == 5


async def test_drafts_come_until_their_segment_is_final(stage: Stage) -> None:
    def draft(segment: int, text: str) -> dict[str, Any]:
        return {"type": "ts-draft", "data": {**ts(segment)["data"], "transcript": text}}

    bot = await stage.bot()
    async with stage.listen(bot) as listener:
        await listener.next()
        await feeds.EventPublisher(stage.room.bus).draft(bot["id"], draft(1, "Sen"))
        assert await listener.next() == draft(1, "Sen")
        await stage.tell(bot, ts(1))
        assert (await listener.next())["type"] == "ts"
        await feeds.EventPublisher(stage.room.bus).draft(bot["id"], draft(1, "late"))
        await feeds.EventPublisher(stage.room.bus).draft(bot["id"], draft(2, "Next"))
        assert await listener.next() == draft(2, "Next")


async def test_audio_is_binary_blocks_and_nothing_else(stage: Stage) -> None:
    bot = await stage.bot()
    blocks = [bytes([number]) * 3200 for number in range(20)]
    async with stage.listen(bot, "websocket_audio_url") as listener:
        await listener.socket.send("{}")
        heard: list[object] = []

        async def hear() -> None:
            while blocks[-1] not in heard:
                heard.append(await listener.socket.recv())

        hearing = asyncio.create_task(hear())
        async with asyncio.timeout(60):
            while not heard:  # the subscription is made after the handshake
                await feeds.EventPublisher(stage.room.bus).audio(bot["id"], b"\x00" * 3200)
                await asyncio.wait({hearing}, timeout=0.02)
            await stage.pass_time(PING_S)
            for block in blocks:
                await feeds.EventPublisher(stage.room.bus).audio(bot["id"], block)
            await hearing
    assert [block for block in heard if block != b"\x00" * 3200] == blocks[1:]
    assert all(isinstance(block, bytes) for block in heard)


async def test_everyone_is_pinged_once_a_minute(stage: Stage) -> None:
    bot = await stage.bot()
    async with stage.listen(bot) as listener, stage.listen(bot, "websocket_read_only_url") as reader:
        for one in (listener, reader):
            await one.next()
        for _ in range(2):
            await stage.pass_time(PING_S)
            for one in (listener, reader):
                assert await one.next() == {"type": "ping"}


# How it ends


async def test_sockets_close_shortly_after_the_last_status(stage: Stage) -> None:
    bot = await stage.bot("transcribing")
    async with stage.listen(bot) as listener, stage.listen(bot, "websocket_audio_url") as audio:
        await stage.move(bot, "transcribing", "finished")
        await listener.until("status-update")
        await stage.pass_time(LINGER_S)
        assert await listener.closed() == (1000, ENDED.reason)
        assert await audio.closed() == (1000, ENDED.reason)


async def test_a_challenged_bot_may_try_again_while_its_listeners_wait(stage: Stage) -> None:
    bot = await stage.bot("joining")
    async with stage.listen(bot) as listener:
        await stage.move(bot, "joining", "bot_detected")
        await listener.until("status-update")
        await stage.pass_time(LINGER_S)
        await stage.move(bot, "bot_detected", "booting")
        await stage.move(bot, "booting", "joining")
        await stage.pass_time(LINGER_S)
        assert (await listener.until("status-update"))["data"]["new_status"] == "booting"
        assert (await listener.until("status-update"))["data"]["new_status"] == "joining"


async def test_who_comes_after_the_end_is_told_everything_and_sent_away(stage: Stage) -> None:
    bot = await stage.bot("finished")
    segment = Segment(start=1.0, end=2.5, speaker=0, confidence=0.9, transcript="Good morning.", speaker_name="Anna")
    await stage.room.transcripts.save(UUID(bot["id"]), Transcript(segments=(segment,)))
    await stage.room.bots.add_event(UUID(bot["id"]), "chat_message", {"username": "Anna", "content": "hello"})
    async with stage.listen(bot) as listener:
        assert await listener.closed() == (1000, ENDED.reason)
    (connected,) = listener.heard
    assert connected["data"] == {
        "transcripts": [
            {
                "transcript": "Good morning.",
                "start": 1.0,
                "end": 2.5,
                "speaker": 0,
                "speaker_name": "Anna",
                "confidence": 0.9,
            }
        ],
        "participants": [],
        "chat_messages": [{"user_avatar": None, "username": "Anna", "content": "hello"}],
        "status": "finished",
    }
    async with stage.listen(bot, "websocket_audio_url") as audio:
        assert await audio.closed() == (1000, ENDED.reason)


async def test_who_resumes_after_the_end_hears_what_was_missed(stage: Stage) -> None:
    bot = await stage.bot("finished")
    await stage.tell(bot, ts(1), ts(2))
    await stage.move(bot, "transcribing", "finished")
    async with stage.listen(bot, since=0) as listener:
        await listener.until("status-update")
        await stage.pass_time(LINGER_S)
        assert await listener.closed() == (1000, ENDED.reason)
    assert listener.kinds == ["connected", "ts", "ts", "status-update"]


async def test_an_ending_closes_nobody_before_they_heard_of_it(stage: Stage) -> None:
    bot = await stage.bot("transcribing")
    outbox = Outbox(stage.room.database)
    await sweep(stage.room.bus, outbox, older_than_s=0)
    async with stage.listen(bot) as listener:
        await listener.next()
        # Nobody publishes this yet.
        await stage.room.bots.record_transition(UUID(bot["id"]), Trigger.CRASHED)
        for _ in range(3):
            await stage.pass_time(LOOK_S)
        await sweep(stage.room.bus, outbox, older_than_s=0)
        assert (await listener.until("status-update"))["data"]["new_status"] == "failed"
        await stage.pass_time(LINGER_S)
        assert await listener.closed() == (1000, ENDED.reason)


async def test_who_listens_to_a_process_that_stops_is_told_to_come_again(stage: Stage) -> None:
    bot = await stage.bot()
    async with AsyncExitStack() as client:
        async with on_a_socket(stage.room.app) as port:
            address = stage.address(bot).replace(f":{stage.port}/", f":{port}/")
            listener = await client.enter_async_context(listening(address))
            await listener.next()
        assert (await listener.closed())[0] == 1012


# What is taken


class Host:
    """Who holds the bot: answers each order as it was told to, in order."""

    def __init__(self, *answers: Mapping[str, Any]) -> None:
        self._orders: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._answers = list(answers)
        self.at_work = asyncio.Event()
        self.at_work.set()

    async def __call__(self, order: Mapping[str, Any]) -> Mapping[str, Any]:
        await self.at_work.wait()
        self._orders.put_nowait(order)
        return self._answers.pop(0) if self._answers else {"ok": True}

    async def orders(self, count: int) -> list[Mapping[str, Any]]:
        """The next orders."""
        async with asyncio.timeout(60):
            return [await self._orders.get() for _ in range(count)]


async def test_actions_reach_the_bot_and_success_is_silent(stage: Stage) -> None:
    bot, host = await stage.bot(), Host()
    line = await stage.room.bus.serve(f"bot.{bot['id']}.do", host)
    await stage.room.bus.flush()
    async with stage.listen(bot) as listener:
        await listener.next()
        await listener.act("chat-message", content="one")
        await listener.act("chat-message", content="two", reply_to_message=None)
        await listener.act("change-avatar", avatar_url="https://example.com/a.png")
        assert await host.orders(3) == [
            {"do": "chat", "message": "one"},
            {"do": "chat", "message": "two"},
            {"do": "change-avatar", "avatar_url": "https://example.com/a.png"},
        ]
        await listener.act("stop")
        assert await host.orders(1) == [{"do": "stop"}]
        await stage.tell(bot, {"type": "stop"})
        assert (await listener.next())["type"] == "stop"
    assert (await stage.row(bot)).stop_requested
    await line.close()


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        ("{", "This is no JSON."),
        ("[" * 100_000, "This is no JSON."),
        ("[]", "action must be one of: chat-message, change-avatar, stop."),
        ('{"action": "dance"}', "action must be one of: chat-message, change-avatar, stop."),
        ('{"action": ["stop"]}', "action must be one of: chat-message, change-avatar, stop."),
        ('{"action": "chat-message"}', "content is required."),
        ('{"action": "chat-message", "data": {"content": 7}}', "content must be a string."),
        ('{"action": "chat-message", "data": []}', "data must be an object."),
        ('{"action": "chat-message", "data": "x"}', "data must be an object."),
        ('{"action": "change-avatar", "data": {"avatar_url": "a.png"}}', "avatar_url must be"),
        (b'{"action": "stop"}', "Binary frames are not understood: send JSON as text."),
        (
            '{"action": "chat-message", "data": {"content": "x"}}',
            "The bot cannot be reached right now; it is recording.",
        ),
    ],
)
async def test_what_cannot_be_done_is_an_error_on_that_connection_only(
    stage: Stage, frame: str | bytes, sentence: str
) -> None:
    bot = await stage.bot()
    async with stage.listen(bot) as listener, stage.listen(bot) as bystander:
        for one in (listener, bystander):
            await one.next()
        await listener.socket.send(frame)
        error = await listener.next()
        assert error["type"] == "error"
        assert error["data"]["message"].startswith(sentence)
        await stage.tell(bot, ts(1))
        assert [(await one.next())["type"] for one in (listener, bystander)] == ["ts", "ts"]
    assert not (await stage.row(bot)).stop_requested


async def test_a_failed_action_says_what_the_host_said(stage: Stage) -> None:
    bot = await stage.bot()
    line = await stage.room.bus.serve(f"bot.{bot['id']}.do", Host({"ok": False, "message": "The chat is closed."}))
    await stage.room.bus.flush()
    async with stage.listen(bot) as listener:
        await listener.act("chat-message", content="hello")
        assert (await listener.until("error"))["data"]["message"] == "The chat is closed. The bot is recording."
    await line.close()


async def test_the_read_only_socket_executes_nothing(stage: Stage) -> None:
    bot = await stage.bot()
    async with stage.listen(bot, "websocket_read_only_url") as listener:
        await listener.next()
        for frame in ('{"action": "stop"}', "{", b"\x00"):
            await listener.socket.send(frame)
            assert "read-only" in (await listener.next())["data"]["message"]
    assert not (await stage.row(bot)).stop_requested


async def test_too_many_actions_are_refused_and_the_others_done_though_their_client_left(stage: Stage) -> None:
    bot, host = await stage.bot(), Host()
    host.at_work.clear()
    line = await stage.room.bus.serve(f"bot.{bot['id']}.do", host)
    await stage.room.bus.flush()
    async with stage.listen(bot) as listener:
        await listener.next()
        for number in range(MOST_ORDERS + 2):
            await listener.act("chat-message", content=str(number))
        assert "try again" in (await listener.next())["data"]["message"]
    host.at_work.set()
    assert [order["message"] for order in await host.orders(MOST_ORDERS)] == [str(n) for n in range(MOST_ORDERS)]
    await line.close()


async def test_who_sends_too_much_is_read_as_time_allows(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "FRAMES_PER_MINUTE", 3)
    bot = await stage.bot()
    async with stage.listen(bot) as listener:
        await listener.next()
        for _ in range(5):
            await listener.socket.send("{")
        await stage.tell(bot, ts(1))
        assert sorted([(await listener.next())["type"] for _ in range(4)]) == ["error", "error", "error", "ts"]
        async with asyncio.timeout(60):
            while stage.clock.sleepers < 2:  # noqa: ASYNC110  # the hub, and who reads this socket
                await asyncio.sleep(0)
        stage.clock.advance(40)
        assert [(await listener.next())["type"] for _ in range(2)] == ["error", "error"]


async def test_who_leaves_before_an_answer_is_no_fault_of_ours(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "FRAMES_PER_MINUTE", 1)
    bot = await stage.bot()
    with capture_logs() as logged:
        async with stage.listen(bot) as listener, asyncio.timeout(60):
            await listener.next()
            for _ in range(2):
                await listener.socket.send("{")
            while stage.clock.sleepers < 2:  # noqa: ASYNC110  # the hub, and who reads this socket
                await asyncio.sleep(0)
            await listener.socket.close()
            stage.clock.advance(60)
            while "socket_closed" not in (actions := [entry["action"] for entry in logged]):  # noqa: ASYNC110
                await asyncio.sleep(0)
    assert "socket_failed" not in actions


async def test_many_sockets_of_an_account_are_read_together_as_time_allows(stage: Stage) -> None:
    bot = await stage.bot()
    async with AsyncExitStack() as stack:
        *talkers, late = [
            await stack.enter_async_context(stage.listen(bot))
            for _ in range(count_of("account_frames") // FRAMES_PER_MINUTE + 1)
        ]
        for listener in (*talkers, late):
            await listener.next()
        for listener in talkers:
            for _ in range(FRAMES_PER_MINUTE):
                await listener.socket.send("{")
            assert {(await listener.next())["type"] for _ in range(FRAMES_PER_MINUTE)} == {"error"}
        await late.socket.send("{")
        async with asyncio.timeout(60):
            while stage.clock.sleepers < 2:  # noqa: ASYNC110  # the hub, and who reads this socket
                await asyncio.sleep(0)
        stage.clock.advance(1)
        assert (await late.next())["type"] == "error"


async def test_a_frame_that_is_too_large_closes_the_socket(stage: Stage) -> None:
    bot = await stage.bot()
    async with stage.listen(bot) as listener:
        await listener.act("chat-message", content="x" * 200_000)
        assert (await listener.closed())[0] == 1009


async def test_pings_and_pieces_without_end_close_the_socket(stage: Stage) -> None:
    bot = await stage.bot()

    async def pieces() -> AsyncIterator[str]:
        while True:
            yield ""

    async def ping(listener: Listener) -> None:
        while True:
            await listener.socket.ping()

    async with asyncio.timeout(120), stage.listen(bot) as pinging, stage.listen(bot) as piecemeal:
        await pinging.next()
        await piecemeal.next()
        with pytest.raises(ConnectionClosed):
            await ping(pinging)
        with pytest.raises(ConnectionClosed):
            await piecemeal.socket.send(pieces())
