"""What a practice meeting does later, and what goes on beside it, until it is closed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class DeferredCalls:
    """Calls after a delay, and tasks that are awaited in the end."""

    def __init__(self) -> None:
        self._timers: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def call(self, delay_s: float, call: Callable[[], None]) -> None:
        """Call it after the delay; at once where there is none."""
        if delay_s <= 0:
            call()
            return
        self._timers.add(asyncio.get_running_loop().call_later(delay_s, call))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it beside everything else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Drop the calls that have not come yet, and wait for the tasks."""
        for timer in self._timers:
            timer.cancel()
        await asyncio.gather(*self._tasks)
