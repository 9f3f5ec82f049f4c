"""Cancels the work on a recording that its caller deleted, and frees its place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import UUID

from sederunt import log
from sederunt.bus.tasks import end
from sederunt.errors import NotFound
from sederunt.model.recording import Recording

LOOK_S = 1.0

logger = log.get(component="jobs")


class RecordingLook(Protocol):
    """Knows whether a recording still exists: the store of recordings."""

    async def get(self, recording_id: UUID, account_id: UUID | None = None) -> Recording:
        """Return the recording. Raises NotFound, with an account also if it is being deleted."""


@asynccontextmanager
async def while_wanted(
    recording: Recording, recordings: RecordingLook, *, look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """Run the block until the recording is deleted. Raises NotFound then."""
    work = asyncio.current_task()
    assert work is not None
    is_deleted = False

    async def watch() -> None:
        nonlocal is_deleted
        is_blind = False
        while True:
            await asyncio.sleep(look_s)
            try:
                await recordings.get(recording.id, recording.account_id)
            except NotFound:
                is_deleted = True
                work.cancel()
                return
            except Exception:  # the database is away, or the like; the loop asks again
                if not is_blind:
                    logger.exception("deletion not looked for", action="look_failed", recording_id=str(recording.id))
                is_blind = True
            else:
                is_blind = False

    watch_task = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not is_deleted or work.uncancel():
            raise
        raise NotFound("The recording was deleted while it was worked on.") from None
    finally:
        await end(watch_task)
