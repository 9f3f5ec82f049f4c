"""Cancel the work on a recording that its caller deleted, and free its place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import UUID

from sederunt.bus.tasks import end
from sederunt.errors import NotFound
from sederunt.model.recording import Recording

LOOK_S = 1.0


class RecordingLook(Protocol):
    """Knows whether a recording still exists: the store of recordings."""

    async def get(self, recording_id: UUID, account_id: UUID | None = None) -> Recording:
        """Return it. Raises NotFound, with an account also where it is being deleted."""


@asynccontextmanager
async def while_wanted(
    recording: Recording, recordings: RecordingLook, *, look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """Run the block until the recording is deleted. Raises NotFound then."""
    work = asyncio.current_task()
    assert work is not None
    deleted = False

    async def watch() -> None:
        nonlocal deleted
        while True:
            await asyncio.sleep(look_s)
            try:
                await recordings.get(recording.id, recording.account_id)
            except NotFound:
                deleted = True
                work.cancel()
                return

    watching = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not deleted or work.uncancel():
            raise
        raise NotFound("The recording was deleted while it was worked on.") from None
    finally:
        await end(watching)
