"""Ends a job that takes longer, or costs more, than its sound justifies, so that others get its place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sederunt.accounting import Ledger
from sederunt.errors import LimitReached
from sederunt.transcription.scheduler import Workload

LOOK_S = 2.0


def most_s(ledger: Ledger, sound_s: float) -> float:
    """Return the number of seconds for which a job may work on this much sound."""
    return ledger.most("job_minutes") * 60 + ledger.most("job_times_length") * sound_s


@asynccontextmanager
async def within_time(ledger: Ledger, sound_s: float) -> AsyncIterator[None]:
    """Run the block for at most the budgeted time. Raises LimitReached after that."""
    limit_s = most_s(ledger, sound_s)
    try:
        async with asyncio.timeout(limit_s) as deadline:
            yield
    except TimeoutError:
        if not deadline.expired():  # of the work itself
            raise
        ledger.refuse("job_minutes")
        sentence = (
            f"It was not done after {limit_s / 60:,.0f} minutes, the most for {sound_s / 60:,.0f} minutes of sound "
            "(SEDERUNT_LIMITS__JOB_MINUTES, SEDERUNT_LIMITS__JOB_TIMES_LENGTH)."
        )
        raise LimitReached(sentence, "job_minutes") from None


def most_cpu_s(ledger: Ledger, sound_s: float) -> float:
    """Return the CPU-seconds that a job may cost for this much sound."""
    return ledger.most("job_cpu_minutes") * 60 + ledger.most("job_cpu_times_length") * sound_s


@asynccontextmanager
async def within_cpu(ledger: Ledger, workload: Workload, *, look_s: float = LOOK_S) -> AsyncIterator[None]:
    """Run the block for at most the budgeted CPU time. Raises LimitReached after that."""
    try:
        async with asyncio.timeout(None) as deadline:
            watch_task = asyncio.create_task(_watch(ledger, workload, deadline, look_s))
            try:
                yield
            finally:
                watch_task.cancel()
    except TimeoutError:
        if not deadline.expired():  # of the work itself
            raise
        ledger.refuse("job_cpu_minutes")
        sentence = (
            f"It took {workload.cpu_s / 60:,.1f} minutes of a core and was not done; the most for "
            f"{workload.sound_s / 60:,.1f} minutes of sound is {most_cpu_s(ledger, workload.sound_s) / 60:,.1f} "
            "(SEDERUNT_LIMITS__JOB_CPU_MINUTES, SEDERUNT_LIMITS__JOB_CPU_TIMES_LENGTH)."
        )
        raise LimitReached(sentence, "job_cpu_minutes") from None


async def _watch(ledger: Ledger, workload: Workload, deadline: asyncio.Timeout, look_s: float) -> None:
    while True:
        await asyncio.sleep(look_s)
        if workload.cpu_so_far_s() > most_cpu_s(ledger, workload.sound_s):
            deadline.reschedule(asyncio.get_running_loop().time())
            return
