"""Recordings that we go and get: from an address, from a bot; and what a caller is told when that fails."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest

from harness.api_room import ApiRoom, tone_wav
from harness.file_server import Files
from sederunt.bench.hostile_files import boxes, elements, lasting_years
from sederunt.bus.held_job import Done, Drop, JobDelivery, Outcome, Redeliver
from sederunt.database.retention import Deletions
from sederunt.jobs import cancellation, fetch
from sederunt.jobs.context import WorkerContext, open_context
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import handler_of
from sederunt.media.readers import Readers
from sederunt.model.status import Trigger
from sederunt.storage.objects import Objects

WAV = tone_wav()


@pytest.fixture
async def context(room: ApiRoom) -> AsyncIterator[WorkerContext]:
    async with open_context(room.settings, role="worker") as opened:
        yield opened


async def ordered(room: ApiRoom, **body: Any) -> dict[str, Any]:
    answer = await room.client.post("/recording", json={"transcription_model": "whisper", **body})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def fetched(context: WorkerContext, made: dict[str, Any], delivered: int = 1) -> Outcome:
    """The job, done once."""
    message = {"id": made["id"], "resource": "recording"}
    return await handler_of(KINDS["fetch"], context)(JobDelivery(kind="fetch", message=message, delivered=delivered))


async def look(room: ApiRoom, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await room.client.get(f"/recording/{made['id']}")).json()
    return found


def why(found: dict[str, Any]) -> str:
    """The sentence in the last event of a recording that failed because it could not be fetched."""
    assert found["status"] == "failed"
    data = found["events"][-1]["data"]
    assert (data["old_status"], data["new_status"], data["cause"]) == ("transcribing", "failed", "fetch_failed")
    assert data["message"].endswith(".")
    sentence: str = data["message"]
    return sentence


async def test_an_address_is_fetched_stored_and_handed_on(room: ApiRoom, context: WorkerContext, files: Files) -> None:
    made = await ordered(room, recording_url=files.give("/talk?take=2", WAV))
    assert await fetched(context, made) == Done()
    found = await look(room, made)
    assert found["status"] == "transcribing"
    async with room.client_of(None) as anyone:
        assert (await anyone.get(found["recording_url"])).content == WAV
    assert files.asked == ["/talk?take=2"]
    assert await fetched(context, made, delivered=2) == Done()
    assert files.asked == ["/talk?take=2"]


async def remove(room: ApiRoom, made: dict[str, Any]) -> None:
    """What its caller and housekeeping do to a recording."""
    assert (await room.client.delete(f"/recording/{made['id']}")).status_code == 200
    deletions = Deletions(room.database)
    receipt = await deletions.get(UUID(made["id"]))
    assert receipt is not None
    await deletions.remove_rows(receipt)
    await room.objects.delete_prefix(f"recordings/{made['id']}/")
    await deletions.finish(receipt)


async def test_a_file_that_is_whole_after_its_recording_was_deleted_is_not_kept(
    room: ApiRoom, context: WorkerContext, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt, which says that nothing is left, was closed while the file was on its way into storage."""
    made = await ordered(room, recording_url=files.give("/talk", WAV))
    put_file = Objects.put_file

    async def late(self: Objects, key: str, path: Path) -> None:
        await remove(room, made)
        await put_file(self, key, path)

    monkeypatch.setattr(Objects, "put_file", late)
    assert await fetched(context, made) == Done()
    assert await room.objects.keys("recordings/") == []


async def test_a_deleted_recording_waits_for_no_reader(room: ApiRoom, context: WorkerContext, files: Files) -> None:
    made = await ordered(room, recording_url=files.give("/talk", WAV))

    class Busy:
        @asynccontextmanager
        async def place(self, _: UUID) -> AsyncIterator[int]:
            await remove(room, made)
            await asyncio.Event().wait()
            yield 0

    busy = replace(context, readers=cast(Readers, Busy()))
    async with asyncio.timeout(60):
        assert await fetched(busy, made) == Done()
    assert await room.objects.keys("recordings/") == []


async def test_the_place_of_a_reader_is_held_until_it_is_back_though_its_recording_is_deleted(
    room: ApiRoom, context: WorkerContext, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await ordered(room, recording_url=files.give("/talk", WAV))
    reads, may_end = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> None:
        reads.set()
        may_end.wait(60)

    monkeypatch.setattr(fetch, "probe_sandboxed", slow)
    working = asyncio.create_task(fetched(context, made))
    try:
        assert await asyncio.to_thread(reads.wait, 60)
        await remove(room, made)
        await asyncio.wait([working], timeout=3 * cancellation.LOOK_S)
        assert not working.done()
        assert list(context.ledger.held("readers").values()) == [1]
    finally:
        may_end.set()
    assert await working == Done()
    assert not context.ledger.held("readers")


async def test_a_redirect_is_followed(room: ApiRoom, context: WorkerContext, files: Files) -> None:
    files.give("/there", WAV)
    made = await ordered(room, recording_url=files.give("/here", b"", 302, Location="/there"))
    assert await fetched(context, made) == Done()
    assert (await look(room, made))["status"] == "transcribing"


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        pytest.param(elements(50_000), "parts", id="elements-without-end"),
        pytest.param(boxes(20_000), "parts", id="boxes-without-end"),
        pytest.param(lasting_years(), "hours long", id="lasts-for-years"),
    ],
)
async def test_a_file_made_to_harm_fails_as_one_and_the_next_is_fetched(
    room: ApiRoom, context: WorkerContext, files: Files, hostile: bytes, said: str
) -> None:
    harmful = await ordered(room, recording_url=files.give("/harmful", hostile))
    assert await fetched(context, harmful) == Drop()
    assert said in why(await look(room, harmful))
    assert await room.objects.keys("recordings/") == []
    made = await ordered(room, recording_url=files.give("/talk", WAV))
    assert await fetched(context, made) == Done()


@pytest.mark.parametrize("allow_private", [False], indirect=True)
async def test_an_address_in_a_private_network_fails_without_being_asked(
    room: ApiRoom, context: WorkerContext, files: Files
) -> None:
    made = await ordered(room, recording_url=files.give("/talk.wav", WAV))
    assert await fetched(context, made) == Drop()
    assert why(await look(room, made)) == (
        "This address leads into a private network; SEDERUNT_ALLOW_PRIVATE_ADDRESSES=true lets the service call it."
    )
    assert files.asked == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 404, "404"),
        (b"", 403, "403"),
        (b"", 200, "empty"),
        (b"<html>Please sign in</html>", 200, "text"),
        (WAV[:40], 200, "cannot be opened"),
        (WAV + bytes(200_000), 200, "larger"),
        (tone_wav(5.5), 200, "hours long"),
    ],
)
async def test_what_an_address_gives_is_judged_and_the_caller_told(
    room: ApiRoom, context: WorkerContext, files: Files, body: bytes, status: int, said: str
) -> None:
    made = await ordered(room, recording_url=files.give("/talk", body, status))
    assert await fetched(context, made) == Drop()
    assert said in why(await look(room, made))
    assert await room.objects.keys("recordings") == []


async def test_a_passing_fault_is_tried_again_and_told_after_the_last_time(
    room: ApiRoom, context: WorkerContext, files: Files
) -> None:
    made = await ordered(room, recording_url=files.give("/talk", b"", 503))
    last = KINDS["fetch"].times or 0
    for delivered in range(1, last):
        assert isinstance(await fetched(context, made, delivered), Redeliver)
        assert (await look(room, made))["status"] == "transcribing"
    assert await fetched(context, made, last) == Drop()
    assert "503" in why(await look(room, made))


async def test_a_body_that_breaks_off_is_tried_again(room: ApiRoom, context: WorkerContext, files: Files) -> None:
    made = await ordered(room, recording_url=files.give("/talk", WAV[:1000], 200, **{"Content-Length": str(len(WAV))}))
    assert isinstance(await fetched(context, made), Redeliver)


async def bot_with_recording(room: ApiRoom) -> dict[str, Any]:
    bot = await room.bot_in("processing")
    key = f"bots/{bot['id']}/recording.webm"
    await room.objects.put(key, WAV)
    await room.bots.record_transition(UUID(bot["id"]), Trigger.CLOSED, changes={"recording_object": key})
    return bot


async def test_the_recording_of_a_bot_becomes_one_of_its_own(room: ApiRoom, context: WorkerContext) -> None:
    bot = await bot_with_recording(room)
    made = await ordered(room, meeting_bot_id=bot["id"])
    assert await fetched(context, made) == Done()
    await room.client.delete(f"/bot/{bot['id']}")
    await room.objects.delete_prefix(f"bots/{bot['id']}")
    assert await room.objects.get(f"recordings/{made['id']}/source") == WAV


async def test_a_bot_that_was_deleted_meanwhile_gives_nothing(room: ApiRoom, context: WorkerContext) -> None:
    bot = await bot_with_recording(room)
    made = await ordered(room, meeting_bot_id=bot["id"])
    await room.client.delete(f"/bot/{bot['id']}")
    assert await fetched(context, made) == Drop()
    assert why(await look(room, made)) == "The bot of this recording is deleted."


async def test_a_recording_is_transcribed_anew_from_a_copy_of_its_file(room: ApiRoom, context: WorkerContext) -> None:
    first = await room.recording(WAV, lang="en")
    made = await ordered(room, recording_id=first["id"])
    assert (made["lang"], made["transcription_model"]) == ("en", "whisper")
    assert await fetched(context, made) == Done()
    await room.recordings.record_transition(UUID(first["id"]), Trigger.TRANSCRIBED)
    await room.client.delete(f"/recording/{first['id']}")
    assert await room.objects.get(f"recordings/{made['id']}/source") == WAV
    assert [row["id"] for row in await of_source(room, first["id"])] == [made["id"]]


async def test_a_recording_that_was_deleted_meanwhile_gives_nothing(room: ApiRoom, context: WorkerContext) -> None:
    first = await room.recording(WAV)
    await room.recordings.record_transition(UUID(first["id"]), Trigger.TRANSCRIBED)
    made = await ordered(room, recording_id=first["id"])
    await room.client.delete(f"/recording/{first['id']}")
    assert await fetched(context, made) == Drop()
    assert why(await look(room, made)) == "The recording that was to be transcribed anew is deleted."


async def of_source(room: ApiRoom, source_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await room.client.get("/recording", params={"source": source_id})).json()["data"]
    return found
