"""Bodies of what has ended: known by a tag, sent in pieces, read page by page."""

import asyncio
import gc
import hashlib
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx2
import pytest
from starlette.types import Message

from harness.api_room import ApiRoom, tone_wav
from harness.fake_clock import FakeClock
from sederunt.api.failures import PIECE_BYTES
from sederunt.api.transport.body_cache import LEAST_BYTES
from sederunt.bus.tasks import end
from sederunt.model.status import Trigger
from sederunt.model.transcript import Segment, Transcript


def segment(number: int, text: str = "“Straße”") -> Segment:
    return Segment(
        start=number * 1.0, end=number + 0.9, speaker=0, confidence=0.25, transcript=f"{number} {text}", utterances=()
    )


@pytest.fixture
async def path(room: ApiRoom) -> str:
    """A finished bot's, with seven segments."""
    bot = await room.bot_in("transcribing")
    await room.transcripts.save(UUID(bot["id"]), Transcript(segments=tuple(map(segment, range(7)))))
    await room.finish(UUID(bot["id"]))
    return f"/bot/{bot['id']}"


async def again(room: ApiRoom, path: str, etag: str, **query: Any) -> httpx2.Response:
    return await room.client.get(path, params=query, headers={"If-None-Match": etag})


async def test_whoever_has_the_body_of_an_ended_bot_is_told_so(room: ApiRoom, path: str) -> None:
    whole = await room.client.get(path)
    etag = whole.headers["etag"]
    assert whole.headers["cache-control"] == "private, no-cache"
    assert (await room.client.get(path)).headers["etag"] == etag
    for named in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        held = await again(room, path, named)
        assert (held.status_code, held.content, held.headers["etag"]) == (304, b"", etag), named
    assert (await again(room, path, '"other"')).json() == whole.json()
    for other in (
        await again(room, path, etag, **{"with-speaker-events": "true"}),
        await again(room, path, etag, segments_after=2),
    ):
        assert other.status_code == 200
        assert other.headers["etag"] != etag
        assert other.json()["status"] == "finished"
    stranger = await room.other_account()
    assert (await stranger.get(path, headers={"If-None-Match": "*"})).status_code == 404


async def test_a_body_that_changed_has_another_tag(room: ApiRoom, path: str) -> None:
    """Something that is added to the history, and addresses: another caller has others."""
    etag = (await room.client.get(path)).headers["etag"]
    await room.bots.add_event(UUID(path.removeprefix("/bot/")), "noted", {})
    grown = await again(room, path, etag)
    assert grown.status_code == 200
    assert grown.headers["etag"] != etag
    elsewhere = await again(room, path, grown.headers["etag"])
    assert elsewhere.status_code == 304
    await room.client.delete(path)
    assert (await again(room, path, "*")).status_code == 404


async def test_a_large_body_is_kept_as_it_was_sent_for_its_caller_alone_until_it_changes(room: ApiRoom) -> None:
    bot = await room.bot_in("transcribing")
    bot_id, path = UUID(bot["id"]), f"/bot/{bot['id']}"
    segments = tuple(segment(number, "Straße " * 50) for number in range(100))
    await room.transcripts.save(bot_id, Transcript(segments=segments))
    await room.finish(bot_id)
    first = await room.client.get(path)
    assert len(first.content) > LEAST_BYTES
    again = await room.client.get(path)
    assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
    assert again.headers["content-type"] == first.headers["content-type"] == "application/json"
    speaking = await room.client.get(path, params={"with-speaker-events": "true"})
    assert speaking.headers["etag"] != first.headers["etag"]
    assert (await (await room.other_account()).get(path)).status_code == 404
    await room.bots.add_event(bot_id, "noted", {})
    assert [event["event"] for event in (await room.client.get(path)).json()["events"]][-1] == "noted"
    assert (await room.client.delete(path)).status_code == 200
    assert (await room.client.get(path)).status_code == 404


async def test_a_large_body_is_compressed_for_who_takes_that_and_is_then_another_one(room: ApiRoom) -> None:
    bot = await room.bot_in("transcribing")
    bot_id, path = UUID(bot["id"]), f"/bot/{bot['id']}"
    await room.transcripts.save(bot_id, Transcript(segments=tuple(segment(n, "Straße " * 50) for n in range(100))))
    await room.finish(bot_id)

    async def asked(**headers: str) -> httpx2.Response:
        return await room.client.get(path, headers={"Accept-Encoding": "identity", **headers})

    plain = await asked()
    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.content) > LEAST_BYTES
    for _ in range(2):  # made, and kept
        packed = await asked(**{"Accept-Encoding": "br;q=1.0, gzip;q=0.8"})
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 5
        assert packed.content == plain.content
    assert plain.headers["etag"] != packed.headers["etag"]
    assert "Accept-Encoding" in plain.headers["vary"]
    assert "Accept-Encoding" in packed.headers["vary"]
    for etag in (plain.headers["etag"], packed.headers["etag"]):
        held = await asked(**{"If-None-Match": etag})
        assert (held.status_code, held.content, held.headers["etag"]) == (304, b"", etag)
    assert "content-encoding" not in (await asked(**{"Accept-Encoding": "gzip;q=0, deflate"})).headers


async def test_a_bot_that_has_not_ended_has_no_tag(room: ApiRoom) -> None:
    bot = await room.bot_in("recording")
    asked = await again(room, f"/bot/{bot['id']}", "*")
    assert (asked.status_code, asked.json()["id"], "etag" in asked.headers) == (200, bot["id"], False)


async def test_a_recording_has_its_tag_once_it_has_ended(room: ApiRoom) -> None:
    made = await room.recording(tone_wav())
    path, recording_id = f"/recording/{made['id']}", UUID(made["id"])
    assert "etag" not in (await room.client.get(path)).headers
    await room.transcripts.save(recording_id, Transcript(segments=(segment(0), segment(1))))
    await room.recordings.record_transition(recording_id, Trigger.TRANSCRIBED)
    ended = await room.client.get(path)
    assert (await again(room, path, ended.headers["etag"])).status_code == 304
    page = await again(room, path, ended.headers["etag"], segments_after=1)
    assert page.json()["transcript"] == ended.json()["transcript"][1:]


async def test_a_transcript_is_read_page_by_page(room: ApiRoom, path: str) -> None:
    whole = (await room.client.get(path)).json()
    read: list[Any] = []
    while page := (await room.client.get(path, params={"segments_after": len(read), "segments_limit": 3})).json():
        assert {**page, "transcript": whole["transcript"]} == whole
        if not page["transcript"]:
            break
        assert len(page["transcript"]) == min(3, 7 - len(read))
        read += page["transcript"]
    assert read == whole["transcript"]
    assert (await room.client.get(path, params={"segments_limit": 3})).json()["transcript"] == read[:3]
    for wrong in ({"segments_after": "-1"}, {"segments_after": "x"}, {"segments_after": 0, "segments_limit": 0}):
        assert list((await room.client.get(path, params=wrong)).json()["errors"]) == [list(wrong)[-1]]


async def test_a_body_of_megabytes_arrives_whole(room: ApiRoom, path: str) -> None:
    told = "long " * 60_000
    segments = tuple(segment(number, told) for number in range(7))
    await room.transcripts.save(UUID(path.removeprefix("/bot/")), Transcript(segments=segments))
    answer = await room.client.get(path, headers={"Accept-Encoding": "identity"})
    assert int(answer.headers["content-length"]) == len(answer.content) > 4 * PIECE_BYTES
    assert [s["transcript"] for s in answer.json()["transcript"]] == [s.transcript for s in segments]


VOCABULARY = ["\U0001f600" * 100] * 1000


async def _sent(room: ApiRoom, path: str) -> tuple[bytes, int]:
    """What is sent for a path (the digest of it), and the memory that it took at most."""
    sent, status = hashlib.sha256(), 0

    async def say(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        sent.update(message.get("body", b""))

    async def hears_nothing() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nobody hangs up")

    route, _, query = path.partition("?")
    headers = [(b"authorization", room.client.headers["authorization"].encode()), (b"host", b"api.test")]
    scope = {
        "type": "http", "method": "GET", "path": route, "raw_path": route.encode(), "query_string": query.encode(),
        "headers": headers, "scheme": "http", "server": ("api.test", 80), "client": None, "http_version": "1.1",
        "root_path": "", "asgi": {"version": "3.0", "spec_version": "2.4"},
    }  # fmt: skip
    gc.collect()
    tracemalloc.start()
    try:
        await room.app(scope, hears_nothing, say)
        assert status == 200
        return sent.digest(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
async def time_passes(clock: FakeClock) -> AsyncIterator[None]:
    """Have the clock go on: beyond its stock of bytes, an account's long bodies and lists wait for time to pass."""

    async def pass_on() -> None:
        while True:
            await asyncio.sleep(0.01)
            clock.advance(1)

    passing = asyncio.create_task(pass_on())
    yield
    await end(passing)


@pytest.mark.usefixtures("time_passes")
async def test_lists_of_long_configs_are_made_while_they_are_sent(room: ApiRoom) -> None:
    """Thirty of them take no more memory than a few."""
    for _ in range(30):
        await room.bot_in("scheduled", custom_vocabulary=VOCABULARY)
    for path, listed in (("/bot/scheduled", None), ("/bot?limit=200", "data")):
        sent, took = await _sent(room, f"/api/v1{path}")
        assert took < 12e6, path
        whole = await room.client.get(path)
        assert "content-length" not in whole.headers
        found = whole.json()[listed] if listed else whole.json()
        assert [bot["custom_vocabulary"] == VOCABULARY for bot in found] == [True] * 30
        assert hashlib.sha256(whole.content).digest() == sent


async def test_short_lists_are_made_before_they_are_sent(room: ApiRoom) -> None:
    assert (await room.client.get("/bot/scheduled")).text == "[]"
    assert (await room.client.get("/recording")).json() == {"data": [], "next_cursor": None}
    newest = sorted([(await room.bot_in("scheduled"))["id"] for _ in range(3)], reverse=True)
    answer = await room.client.get("/bot", params={"limit": 2})
    assert int(answer.headers["content-length"]) == len(answer.content)
    found = answer.json()
    assert [bot["id"] for bot in found["data"]] == newest[:2]
    rest = (await room.client.get("/bot", params={"limit": 2, "cursor": found["next_cursor"]})).json()
    assert ([bot["id"] for bot in rest["data"]], rest["next_cursor"]) == (newest[2:], None)
