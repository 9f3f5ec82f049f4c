"""The Python client against the application behind a real server: routes, uploads, live events over a bad line."""

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.api_room import GOOD_BOT, tone_wav
from harness.file_server import file_server
from harness.line import Line, line_to
from harness.socket_room import Stage
from sederunt.bus import feeds
from sederunt_client import (
    AsyncClient,
    BotDeleted,
    Client,
    Conflict,
    InvalidRequest,
    KeyReused,
    LiveEvent,
    NotFound,
    NotReached,
    Unauthorized,
)

SOON = datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)


@pytest.fixture
async def line(stage: Stage) -> AsyncIterator[Line]:
    async with line_to(stage.port) as opened:
        yield opened


@pytest.fixture
async def client(stage: Stage, line: Line) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(f"http://127.0.0.1:{line.port}", stage.room.key) as opened:
        yield opened


async def test_a_bot_is_made_found_changed_and_deleted(client: AsyncClient) -> None:
    fields: dict[str, Any] = {**GOOD_BOT, "stop_options": {"time_limit": 30}, "custom_metadata": {"room": "7"}}
    bot = await client.create_bot(**fields, scheduled_start_time=SOON)
    assert (bot.status, bot.scheduled_for, bot.stop_options.time_limit) == ("scheduled", SOON, 30)
    other = await client.create_bot(**{**fields, "custom_metadata": {"room": "8"}}, scheduled_start_time=SOON)
    assert {found.id for found in await client.list_scheduled_bots()} == {bot.id, other.id}
    assert [found.id async for found in client.iter_bots(metadata={"room": "7"})] == [bot.id]
    page = await client.list_bots(limit=1)
    assert (len(page.data), page.next_cursor is not None) == (1, True)
    assert {found.id async for found in client.iter_bots()} == {bot.id, other.id}

    changed = await client.update_bot(bot.id, bot_name="Renamed", lang="en")
    assert (changed.bot_name, changed.lang) == ("Renamed", "en")
    cleared = await client.update_bot(bot.id, lang=None)
    assert (cleared.bot_name, cleared.lang) == ("Renamed", None)
    assert (await client.get_bot(bot.id, with_speaker_events=True)).participants == ()
    assert (await client.get_bot_transcript_text(bot.id, format="vtt")).startswith("WEBVTT")
    assert (await client.delete_bot(bot.id)).message
    with pytest.raises(NotFound):
        await client.get_bot(bot.id)


async def test_refusals_are_told_by_class_and_field(stage: Stage, line: Line, client: AsyncClient) -> None:
    wrong: dict[str, Any] = {**GOOD_BOT, "service": "irc", "stop_options": {"time_limit": 1000}}
    good: dict[str, Any] = GOOD_BOT
    with pytest.raises(InvalidRequest) as caught:
        await client.create_bot(**wrong)
    assert set(caught.value.fields) == {"service", "stop_options.time_limit"}
    assert caught.value.request_id
    bot = await client.create_bot(**good)
    with pytest.raises(Conflict, match="booting"):
        await client.delete_bot(bot.id)
    async with AsyncClient(f"http://127.0.0.1:{line.port}", "sk_wrong") as stranger:
        with pytest.raises(Unauthorized):
            await stranger.list_bots()
    room = stage.room
    key, _ = await room.keys.create((await room.accounts.create("other")).id, "other")
    async with AsyncClient(f"http://127.0.0.1:{line.port}", key) as other:
        assert [found async for found in other.iter_bots()] == []
        with pytest.raises(NotFound):
            await other.get_bot(bot.id)


async def test_a_file_is_uploaded_piece_by_piece_by_both_clients(
    stage: Stage, client: AsyncClient, line: Line, tmp_path: Path
) -> None:
    file = tmp_path / "talk.wav"
    file.write_bytes(tone_wav(12))
    told: list[tuple[int, int | None]] = []
    asked: dict[str, Any] = {"transcription_model": "whisper", "custom_vocabulary": ["Sederunt", "minutes"]}
    recording = await client.create_recording(
        **asked, recording_file=file, on_progress=lambda sent, total: told.append((sent, total))
    )
    assert (recording.status, recording.custom_vocabulary) == ("transcribing", ("Sederunt", "minutes"))
    size = file.stat().st_size
    assert told[-1] == (size, size)
    assert len(told) > 3
    assert [sent for sent, _ in told] == sorted(sent for sent, _ in told)

    def by_the_other(target: Path) -> tuple[bytes, str]:
        with Client(f"http://127.0.0.1:{line.port}", stage.room.key) as waiting, file.open("rb") as opened:
            second = waiting.create_recording(**asked, recording_file=opened)
            assert {found.id for found in waiting.iter_recordings()} == {recording.id, second.id}
            assert second.recording_url is not None
            address = second.recording_url.replace("http://api.test", f"http://127.0.0.1:{line.port}")
            waiting.download(address, target)
            with pytest.raises(NotFound, match="There is nothing at this path"):
                waiting.download(address.replace("/files/", "/file/"), tmp_path / "none")
            return target.read_bytes(), second.transcription_model

    saved, model = await asyncio.to_thread(by_the_other, tmp_path / "saved.wav")
    assert (saved, model) == (file.read_bytes(), "whisper")
    assert not (tmp_path / "none").exists()


async def test_what_can_be_repeated_outlives_a_line_that_breaks(stage: Stage, line: Line, client: AsyncClient) -> None:
    await client.list_bots()
    line.cut()  # the pooled connection is dead now, and nobody has told the client
    assert (await client.list_bots()).data == ()
    unreachable = AsyncClient("http://127.0.0.1:1", stage.room.key, attempts=2)
    with pytest.raises(NotReached):
        await unreachable.list_bots()
    await unreachable.close()


async def test_nothing_is_made_twice_where_the_answer_was_lost(line: Line, client: AsyncClient) -> None:
    fields: dict[str, Any] = {**GOOD_BOT, "scheduled_start_time": SOON}
    line.losing = 2
    bot = await client.create_bot(**fields)
    assert line.losing == 0
    assert [found.id async for found in client.iter_bots()] == [bot.id]
    recording: dict[str, Any] = {"transcription_model": "whisper", "recording_file": io.BytesIO(tone_wav())}
    line.losing = 1
    made = await client.create_recording(**recording)
    assert [found.id async for found in client.iter_recordings()] == [made.id]
    assert (await client.create_bot(**fields, idempotency_key="mine")).id != bot.id
    with pytest.raises(KeyReused):
        await client.create_bot(**{**fields, "bot_name": "Another"}, idempotency_key="mine")
    line.losing = 1
    with pytest.raises(NotReached):  # it may have been done, and would be done twice
        await client.test_webhook(webhook_url="http://127.0.0.1:1/hook")


async def test_live_events_go_on_over_a_line_that_breaks(stage: Stage, line: Line, client: AsyncClient) -> None:
    bot = await stage.bot()
    address = stage.address(bot).replace(str(stage.port), str(line.port))
    heard: asyncio.Queue[LiveEvent] = asyncio.Queue()

    async def follow() -> None:
        async for event in client.listen(address):
            heard.put_nowait(event)

    following = asyncio.create_task(follow())
    try:
        first = await asyncio.wait_for(heard.get(), 60)
        assert (first.type, first.data["transcripts"]) == ("connected", [])
        for word in ("One.", "Two.", "Three."):
            await stage.tell(
                bot, {"type": "ts", "data": {"segment_id": word, "transcript": word, "start": 0, "end": 1}}
            )
            told = await asyncio.wait_for(heard.get(), 60)
            assert (told.type, told.data["transcript"]) == ("ts", word)
            line.cut()
        assert line.opened >= 3
    finally:
        following.cancel()
    assert heard.empty()


async def test_the_waiting_client_hears_the_end(stage: Stage, line: Line) -> None:
    bot = await stage.bot()
    address = stage.address(bot).replace(str(stage.port), str(line.port))
    loop, begun = asyncio.get_running_loop(), asyncio.Event()

    def follow() -> list[str]:
        told = []
        with Client(f"http://127.0.0.1:{line.port}", stage.room.key) as waiting:
            for event in waiting.listen(address, since=0):
                told.append(event.type)
                loop.call_soon_threadsafe(begun.set)
        return told

    following = asyncio.create_task(asyncio.to_thread(follow))
    await asyncio.wait_for(begun.wait(), 60)
    await stage.tell(bot, {"type": "chat-message", "data": {"username": "Ada", "content": "Hello."}})
    await stage.move(bot, "recording", "failed")
    while not following.done():
        await stage.pass_time(1)
        await asyncio.sleep(0.02)
    assert await following == ["connected", "chat-message", "status-update"]


async def test_both_clients_hear_the_meeting_until_it_ends(stage: Stage, line: Line, client: AsyncClient) -> None:
    bot = await stage.bot()
    address = stage.address(bot, "websocket_audio_url").replace(str(stage.port), str(line.port))
    loop, heard = asyncio.get_running_loop(), asyncio.Event()

    def hear() -> list[bytes]:
        blocks = []
        with Client(f"http://127.0.0.1:{line.port}", stage.room.key) as waiting:
            for block in waiting.audio(address):
                blocks.append(block)
                loop.call_soon_threadsafe(heard.set)
        return blocks

    async def hear_too() -> list[bytes]:
        return [block async for block in client.audio(address)]

    hearing = [asyncio.create_task(asyncio.to_thread(hear)), asyncio.create_task(hear_too())]
    publisher = feeds.EventPublisher(stage.room.bus)
    while not heard.is_set():  # what nobody hears yet is not kept
        await publisher.audio(bot["id"], b"\x01" * 3200)
        await asyncio.sleep(0.02)
    await stage.move(bot, "recording", "failed")
    while not all(each.done() for each in hearing):
        await stage.pass_time(1)
        await asyncio.sleep(0.02)
    for blocks in await asyncio.gather(*hearing):
        assert set(blocks) <= {b"\x01" * 3200}
    assert hearing[0].result()


async def test_a_bot_that_is_deleted_ends_its_listeners(stage: Stage, line: Line, client: AsyncClient) -> None:
    bot = await stage.bot("leaving")
    address = stage.address(bot).replace(str(stage.port), str(line.port))
    events = aiter(client.listen(address))
    assert (await anext(events)).type == "connected"
    await client.delete_bot(bot["id"])
    ended = asyncio.ensure_future(anext(events))
    while not ended.done():
        await stage.pass_time(61)
        await asyncio.sleep(0.02)
    with pytest.raises(BotDeleted):
        await ended


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_download_follows_the_service_to_its_bucket_without_the_key(tmp_path: Path, is_async: bool) -> None:
    with file_server() as service, file_server() as bucket:
        there = bucket.give("/recording?signed", b"sound")
        address = service.give("/files/bot/b/recording.webm", b"", 302, Location=there)
        target = tmp_path / "meeting.webm"
        if is_async:
            async with AsyncClient(service.url, "sk_secret") as client:
                await client.download(address, target)
        else:
            with Client(service.url, "sk_secret") as blocking:
                await asyncio.to_thread(blocking.download, address, target)
        assert (target.read_bytes(), bucket.keys) == (b"sound", [None])
        round_about = service.give("/round", b"", 302, Location=service.url + "/round")
        async with AsyncClient(service.url, "sk_secret") as client:
            with pytest.raises(NotReached):
                await client.download(round_about, target)
