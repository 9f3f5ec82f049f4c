"""Long bodies and lists of an account come at a rate once its stock is used up; those of others do not wait."""

import asyncio
from uuid import UUID, uuid4

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger
from sederunt.api.access.bulk import LONGEST_S, BulkShare
from sederunt.errors import TooManyRequests
from sederunt.model.budgets import BUDGETS

STOCK, PER_S = int(BUDGETS["bulk_bytes"].default), BUDGETS["bulk_bytes"].per_s
ONE, OTHER = uuid4(), uuid4()


async def settled(task: "asyncio.Task[None]", clock: FakeClock) -> bool:
    """Let a task go on until it is done, or waits for time to pass; whether it is done."""
    while not task.done() and not clock.sleepers:  # noqa: ASYNC110  # a clock has no event for who goes to sleep
        await asyncio.sleep(0)
    return task.done()


async def test_what_is_beyond_the_stock_waits_until_that_is_paid_and_others_do_not(clock: FakeClock) -> None:
    share = BulkShare(Ledger(), clock)
    await share.begin(ONE, STOCK + int(PER_S))
    waiting = asyncio.create_task(share.begin(ONE, 1))
    assert not await settled(waiting, clock)
    await share.begin(OTHER, STOCK)
    clock.advance(1.0)
    assert await settled(waiting, clock)


async def test_those_who_wait_go_on_one_after_another(clock: FakeClock) -> None:
    share = BulkShare(Ledger(), clock)
    await share.begin(ONE, STOCK + int(PER_S))
    waiting = [asyncio.create_task(share.begin(ONE, int(PER_S))) for _ in range(3)]
    done = []
    for _ in range(4):
        await asyncio.sleep(0)
        done.append(sum(task.done() for task in waiting))
        clock.advance(1.0)
        await asyncio.sleep(0)
    assert done == [0, 1, 2, 3]


async def test_who_is_far_beyond_is_told_to_come_again_and_what_has_begun_goes_on(clock: FakeClock) -> None:
    share = BulkShare(Ledger(), clock)
    share.count(ONE, STOCK + int(PER_S * (LONGEST_S + 1)))
    with pytest.raises(TooManyRequests) as refused:
        await share.begin(ONE, 1)
    assert (refused.value.budget, refused.value.retry_after_s) == ("bulk_bytes", int(LONGEST_S + 1))
    begun = asyncio.create_task(share.go_on(ONE, int(PER_S)))
    assert not await settled(begun, clock)
    clock.advance(LONGEST_S + 2)
    assert await settled(begun, clock)


async def test_an_account_that_counts_for_several_has_as_many_times_as_much(clock: FakeClock) -> None:
    weights: dict[UUID, float] = {ONE: 3.0}
    share = BulkShare(Ledger(weights=weights), clock)
    await share.begin(ONE, 3 * STOCK)
    await share.begin(ONE, 1)
    await share.begin(OTHER, STOCK + int(PER_S))
    assert not await settled(asyncio.create_task(share.begin(OTHER, 1)), clock)
