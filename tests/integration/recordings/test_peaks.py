"""The waveform goes with its sound, also where that goes while it is made."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import pytest

from harness.api_room import ApiRoom, tone_wav
from sederunt.database.retention import Deletions
from sederunt.jobs.context import WorkerContext, open_context
from sederunt.jobs.job import Job
from sederunt.jobs.peaks import give_up, peaks
from sederunt.storage.names import peaks_object
from sederunt.storage.objects import Objects

Removal = Callable[[ApiRoom, UUID], Awaitable[None]]


@pytest.fixture
async def context(room: ApiRoom) -> AsyncIterator[WorkerContext]:
    async with open_context(room.settings, role="worker") as opened:
        yield opened


async def make(job: Job, context: WorkerContext) -> None:
    await peaks(job, context)


async def fail(job: Job, context: WorkerContext) -> None:
    await give_up(job, context, OSError("broken"))


async def delete(room: ApiRoom, recording_id: UUID) -> None:
    """What its caller and housekeeping do."""
    await room.client.delete(f"/recording/{recording_id}")
    receipt = await Deletions(room.database).get(recording_id)
    assert receipt is not None
    await Deletions(room.database).remove_rows(receipt)
    await room.objects.delete_prefix(f"recordings/{recording_id}/")


async def expire(room: ApiRoom, recording_id: UUID) -> None:
    """What housekeeping does when its media had its time."""
    await begin_to_expire(room, recording_id)
    await room.recordings.media_removed(recording_id)


async def begin_to_expire(room: ApiRoom, recording_id: UUID) -> None:
    await room.objects.delete_prefix(f"recordings/{recording_id}/")


async def nothing(_room: ApiRoom, _recording_id: UUID) -> None:
    pass


@pytest.mark.parametrize(
    ("act", "removal", "kept"),
    [
        (make, nothing, True),
        (make, delete, False),
        (make, expire, False),
        (make, begin_to_expire, False),
        (fail, nothing, True),
        (fail, delete, False),
        (fail, expire, False),
    ],
)
async def test_no_waveform_is_kept_of_a_sound_that_is_removed_meanwhile(
    room: ApiRoom,
    context: WorkerContext,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Job, WorkerContext], Awaitable[None]],
    removal: Removal,
    kept: bool,
) -> None:
    recording_id = UUID((await room.recording(tone_wav()))["id"])
    key, put = peaks_object("recording", recording_id), Objects.put

    async def late(self: Objects, at: str, data: bytes) -> None:
        await removal(room, recording_id)
        await put(self, at, data)

    monkeypatch.setattr(Objects, "put", late)
    await act(Job(kind="peaks", id=recording_id, resource="recording", delivered=1, cut_off=asyncio.Event()), context)
    assert (await room.objects.size(key) is not None) == kept
