"""A job may last as long as its sound allows, and the budget that ended it is named."""

import asyncio
from uuid import UUID

import pytest

from sederunt.accounting import Ledger
from sederunt.bus.held_job import Drop
from sederunt.errors import LimitReached
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import outcome_of
from sederunt.jobs.time_limit import most_cpu_s, most_s, within_cpu, within_time
from sederunt.transcription.scheduler import Scheduler, Urgency, Workload, workload_alone


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


def test_the_limit_of_cpu_follows_the_length_too() -> None:
    ledger = Ledger()
    assert most_cpu_s(ledger, 0) == 600
    assert most_cpu_s(ledger, 3600) == 600 + 8 * 3600


async def test_a_job_whose_windows_cost_more_than_its_sound_can_take_ends_and_says_which_budget_it_was() -> None:
    ledger = Ledger({"job_cpu_minutes": 0.0, "job_cpu_times_length": 1.0})
    spent = iter(float(second) for second in range(100))
    workload = Workload(Scheduler(1, cpu=lambda: next(spent)), UUID(int=1), Urgency.UPLOAD)
    workload.sound_s = 2.5
    naming = pytest.raises(LimitReached, match="SEDERUNT_LIMITS__JOB_CPU_TIMES_LENGTH")
    with workload.lane().turns(lambda: False), naming as ended:
        async with within_cpu(ledger, workload, look_s=0):
            await asyncio.Event().wait()
    assert ended.value.budget == "job_cpu_minutes"
    assert isinstance(outcome_of(ended.value, KINDS["transcribe"], 1), Drop)


async def test_what_others_cost_is_not_held_against_a_job() -> None:
    ledger = Ledger({"job_cpu_minutes": 0.0, "job_cpu_times_length": 1.0})
    workload = workload_alone()
    workload.sound_s = 1e-9
    async with within_cpu(ledger, workload, look_s=0):
        await asyncio.sleep(0.01)
    assert workload.cpu_s == 0
