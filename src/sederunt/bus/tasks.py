"""End tasks that talk to NATS."""

import asyncio
from typing import Any


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks until they have ended.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, on which the client's requests are built, swallows a
    cancellation that comes in the same moment as the answer, and a loop around it goes on.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.5)


def notice_cancellation() -> None:
    """Raise, in loops around requests, the cancellation that was swallowed in one of them."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
