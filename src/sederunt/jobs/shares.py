"""How many places of a queue one account may have in a process, so that nobody takes all of them."""

from collections.abc import Awaitable, Callable, Collection
from uuid import UUID

FULL_S = 2.0  # before the job of an account that has its share is looked at again


class Shares:
    """Counts the jobs at work by account.

    Args:
        most: places of one account.
        account_of: whose a resource is; None where it is gone.
    """

    def __init__(self, most: int, account_of: Callable[[UUID], Awaitable[UUID | None]]) -> None:
        self._most, self._account_of = most, account_of
        self._accounts: dict[str, UUID] = {}
        self.held: Callable[[], Collection[str]] = frozenset  # ids of the resources at work

    async def must_wait_s(self, resource_id: str) -> float:
        """Return how long a job has to wait because its account has its share; 0 where it may begin."""
        account = await self._account_of(UUID(resource_id))
        if account is None:
            return 0.0
        held = self.held()
        self._accounts = {id_: whose for id_, whose in self._accounts.items() if id_ in held}
        if sum(whose == account for whose in self._accounts.values()) >= self._most:
            return FULL_S
        self._accounts[resource_id] = account
        return 0.0
