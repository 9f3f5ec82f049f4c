"""A job may last as long as its sound allows, and the budget that ended it is named."""

import asyncio

import pytest

from sederunt.accounting import Ledger
from sederunt.bus.held_job import Drop
from sederunt.errors import LimitReached
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.time_limit import most_s, within_time
from sederunt.jobs.work import outcome_of


def test_the_limit_follows_the_length_of_the_sound() -> None:
    ledger = Ledger()
    assert most_s(ledger, 0) == 3600
    assert most_s(ledger, 3600) == 9 * 3600


async def test_a_job_beyond_it_ends_and_is_not_tried_again() -> None:
    ledger = Ledger({"job_minutes": 0.0, "job_times_length": 0.001})
    with pytest.raises(LimitReached, match="SEDERUNT_LIMITS__JOB_MINUTES") as ended:
        async with within_time(ledger, 1.0):
            await asyncio.Event().wait()
    assert ended.value.budget == "job_minutes"
    assert isinstance(outcome_of(ended.value, KINDS["transcribe"], 1), Drop)
    assert ledger.told()["job_minutes"]["refused"] == 1


async def test_a_timeout_of_the_work_itself_is_no_spent_budget() -> None:
    with pytest.raises(TimeoutError):
        async with within_time(Ledger(), 1.0):
            raise TimeoutError
