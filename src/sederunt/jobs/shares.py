"""Decides whether a job may start now: an account's share of the places is a budget, so that none takes them all.

Long jobs have their own share, over all accounts, so that a short one always finds a place beside them.
"""

import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from sederunt import log
from sederunt.accounting import Ledger

FULL_S = 2.0  # pause before the job of an account without a free place is looked at again
LOOK_S = 0.1  # at most ten waiting jobs are looked at per second
LONG_S = 1800.0  # a job with more sound than this is long

logger = log.get(component="jobs")


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSize:
    """What decides about a job's place."""

    account_id: UUID
    sound_s: float = 0.0  # 0 if the length is unknown or irrelevant


SizeOf = Callable[[UUID], Awaitable[JobSize | None]]


class Shares:
    """Counts the jobs of one kind at work.

    Args:
        budget: the places of one account.
        size_of: returns the account of a resource and the length of its sound; None if the resource is gone.
        long_budget: the places of long jobs, of all accounts together; None if length does not matter.
        now: monotonic seconds.
    """

    def __init__(
        self,
        ledger: Ledger,
        budget: str,
        size_of: SizeOf,
        *,
        long_budget: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._budget, self._size_of, self._long_budget = ledger, budget, size_of, long_budget
        self._now = now
        self._taken: dict[str, list[tuple[str, UUID | None]]] = {}  # resource → (budget, holder) of its place
        # Resources that were sent back without a place → when each counts as ended elsewhere.
        self._waiting: dict[str, float] = {}
        self.held: Callable[[], Collection[str]] = frozenset  # ids of the resources at work

    async def must_wait_s(self, resource_id: str) -> float:
        """Return how long a job has to wait because its share is taken; 0 if it may begin.

        The more jobs wait, the longer each waits: otherwise they would be looked at again and again before those of
        others.
        """
        size = await self._size_of(UUID(resource_id))
        is_new = self._waiting.pop(resource_id, None) is None
        if size is None:
            return 0.0
        self._give_back()
        self._forget()
        places: list[tuple[str, UUID | None]] = [(self._budget, size.account_id)]
        if self._long_budget is not None and size.sound_s > LONG_S:
            places.append((self._long_budget, None))
        spent_budget = next((budget for budget, holder in places if not self._ledger.has_room(budget, holder)), None)
        if spent_budget is not None:
            if is_new:
                logger.info("job waits for a share", action="job_waits", budget=spent_budget, id=resource_id)
            pause_s = FULL_S + LOOK_S * (len(self._waiting) + 1)
            self._waiting[resource_id] = self._now() + 2 * pause_s
            return pause_s
        self._taken[resource_id] = places
        for budget, holder in places:
            self._ledger.take(budget, holder)
        return 0.0

    def _forget(self) -> None:
        """Drop jobs that did not return within a second pause: another worker has them, or nobody."""
        now_s = self._now()
        self._waiting = {id_: until_s for id_, until_s in self._waiting.items() if until_s >= now_s}

    def _give_back(self) -> None:
        held_ids = self.held()
        for id_ in [id_ for id_ in self._taken if id_ not in held_ids]:
            for budget, holder in self._taken.pop(id_):
                self._ledger.give_back(budget, holder)
