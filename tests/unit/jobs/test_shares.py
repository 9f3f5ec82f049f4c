"""One account has its share of the places, long jobs have theirs, and nobody else waits for them."""

from uuid import UUID, uuid4

import pytest

from sederunt.accounting import Ledger
from sederunt.jobs.shares import FULL_S, LONG_S, LOOK_S, JobSize, Shares
from sederunt.model.budgets import BUDGETS, default_of

ADA, BEN = UUID(int=1), UUID(int=2)


class Queue:
    """Jobs whose sizes are known, and which of them are at work."""

    def __init__(self, **limits: float) -> None:
        self.sizes: dict[UUID, JobSize] = {}
        self.held: set[str] = set()
        known = {name: default_of(name) for name in BUDGETS} | limits
        self.ledger = Ledger(known)
        self.now_s = 0.0
        self.shares = Shares(
            self.ledger,
            "transcriptions",
            self.size_of,
            long_budget="long_transcriptions",
            now=lambda: self.now_s,
        )
        self.shares.held = lambda: self.held

    async def size_of(self, resource_id: UUID) -> JobSize | None:
        return self.sizes.get(resource_id)

    def job(self, account_id: UUID, sound_s: float = 60.0) -> str:
        id_ = uuid4()
        self.sizes[id_] = JobSize(account_id=account_id, sound_s=sound_s)
        return str(id_)

    async def begins(self, job: str) -> bool:
        begins = await self.shares.must_wait_s(job) == 0
        if begins:
            self.held.add(job)
        return begins


async def test_an_account_waits_while_it_has_its_share_and_others_do_not() -> None:
    queue = Queue(transcriptions=2)
    greedy = [queue.job(ADA) for _ in range(3)]
    assert [await queue.begins(job) for job in greedy] == [True, True, False]
    assert await queue.begins(queue.job(BEN))
    queue.held.discard(greedy[0])
    assert await queue.begins(greedy[2])
    queue.held.clear()
    assert await queue.begins(queue.job(ADA))
    assert queue.ledger.held("transcriptions") == {str(ADA): 1}


async def test_long_jobs_of_all_accounts_leave_places_to_a_short_one() -> None:
    queue = Queue(long_transcriptions=2)
    long = [queue.job(account, LONG_S + 1) for account in (ADA, BEN, UUID(int=3))]
    assert [await queue.begins(job) for job in long] == [True, True, False]
    assert await queue.begins(queue.job(ADA))
    queue.held.discard(long[0])
    assert await queue.begins(long[2])


async def test_the_more_jobs_wait_the_longer_each_so_that_others_are_looked_at_between() -> None:
    queue = Queue(transcriptions=0)
    pauses = [await queue.shares.must_wait_s(queue.job(ADA)) for _ in range(1000)]
    assert pauses == sorted(pauses)
    assert FULL_S <= pauses[0] < 2 * FULL_S < pauses[-1]


async def test_what_is_deleted_meanwhile_waits_for_nobody() -> None:
    assert await Queue(transcriptions=0).shares.must_wait_s(str(uuid4())) == 0


@pytest.mark.parametrize("deleted", [False, True])
async def test_jobs_that_ended_elsewhere_make_nobody_wait_longer(deleted: bool) -> None:
    """Another worker had them, or their recordings are gone: this process is not told, or only that they are gone."""
    queue = Queue(transcriptions=0)
    jobs = [queue.job(ADA) for _ in range(1000)]
    longest_s = max([await queue.shares.must_wait_s(job) for job in jobs])
    if deleted:
        queue.sizes.clear()
        assert {await queue.shares.must_wait_s(job) for job in jobs} == {0.0}
    else:
        queue.now_s += 2 * longest_s + 0.1
    assert await queue.shares.must_wait_s(queue.job(ADA)) < FULL_S + 2 * LOOK_S


async def test_jobs_that_come_back_in_time_count_as_waiting() -> None:
    queue = Queue(transcriptions=0)
    jobs = [queue.job(ADA) for _ in range(10)]
    for _ in range(20):
        pauses = [await queue.shares.must_wait_s(job) for job in jobs]
        queue.now_s += max(pauses)
    assert pauses == [FULL_S + LOOK_S * len(jobs)] * len(jobs)
