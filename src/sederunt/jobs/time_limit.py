"""Ends a job that lasts longer than its sound can take: whatever it waits for, its place is another's by then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sederunt.accounting import Ledger
from sederunt.errors import LimitReached


def most_s(ledger: Ledger, sound_s: float) -> float:
    """Return for how many seconds a job may work on sound of a length."""
    return ledger.most("job_minutes") * 60 + ledger.most("job_times_length") * sound_s


@asynccontextmanager
async def within_time(ledger: Ledger, sound_s: float) -> AsyncIterator[None]:
    """Do what is in the block for so long at most. Raises LimitReached after that."""
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
