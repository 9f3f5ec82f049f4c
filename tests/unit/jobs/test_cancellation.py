"""The work on a recording ends with the recording."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from sederunt.errors import NotFound
from sederunt.jobs.cancellation import while_wanted

RECORDING: Any = SimpleNamespace(id=uuid4(), account_id=uuid4())


class Recordings:
    """Holds one recording until it is deleted."""

    def __init__(self) -> None:
        self.deleted = False
        self.troubles: list[Exception] = []  # each is raised once, before anything else
        self.looked = asyncio.Event()

    async def get(self, recording_id: UUID, account_id: UUID | None = None) -> Any:
        assert (recording_id, account_id) == (RECORDING.id, RECORDING.account_id)
        self.looked.set()
        if self.troubles:
            raise self.troubles.pop(0)
        if self.deleted:
            raise NotFound("There is no recording with this id.")
        return RECORDING


async def test_work_that_ends_by_itself_is_let_be() -> None:
    recordings = Recordings()
    async with while_wanted(RECORDING, recordings, look_s=0):
        await recordings.looked.wait()


async def test_a_deletion_ends_it() -> None:
    recordings = Recordings()

    async def work() -> None:
        async with while_wanted(RECORDING, recordings, look_s=0):
            await recordings.looked.wait()
            recordings.deleted = True
            await asyncio.Event().wait()

    with pytest.raises(NotFound):
        await work()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_deletion_ends_it_though_looks_failed() -> None:
    recordings = Recordings()
    recordings.troubles = [OSError("the database starts again"), OSError("it still does")]
    recordings.deleted = True
    with capture_logs() as logs, pytest.raises(NotFound):
        async with asyncio.timeout(60), while_wanted(RECORDING, recordings, look_s=0):
            await asyncio.Event().wait()
    assert [entry["action"] for entry in logs] == ["look_failed"]  # once for the spell


async def test_a_cancellation_from_outside_stays_one() -> None:
    recordings = Recordings()

    async def work() -> None:
        async with while_wanted(RECORDING, recordings, look_s=0):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await recordings.looked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
