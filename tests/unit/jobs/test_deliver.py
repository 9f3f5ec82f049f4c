"""The job that delivers, when its worker may not be the only one at it."""

import asyncio
from types import SimpleNamespace
from typing import cast
from uuid import UUID

import pytest

from sederunt.jobs.context import WorkerContext
from sederunt.jobs.deliver import deliver
from sederunt.jobs.job import Again, Job


async def test_the_job_of_a_worker_that_was_cut_off_goes_back() -> None:
    job = Job(kind="deliver", id=UUID(int=1), resource="bot", delivered=1, cut_off=asyncio.Event())

    async def deliver_all(resource_id: UUID, cut_off: asyncio.Event) -> int:
        assert resource_id == job.id
        cut_off.set()
        return 1

    context = cast(WorkerContext, SimpleNamespace(deliverer=SimpleNamespace(deliver_all=deliver_all)))
    with pytest.raises(Again):
        await deliver(job, context)
