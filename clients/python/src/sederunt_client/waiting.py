"""One wait for an ending: when to look again, what is no news, and when to give up. It reads and writes nothing."""

import random

from sederunt_client.errors import ApiError, NotReached, SederuntClientError
from sederunt_client.live import PATIENCE_S
from sederunt_client.requests import PASSING, told_pause

SOONEST_LOOK_S, LATEST_LOOK_S = 2.0, 10.0
_GROWTH, _GROWTH_OF_A_BUSY_KEY = 1.25, 2.0


class Wait:
    """The pace of one wait, and its patience with a service that is away.

    Args:
        what: is waited for.
        timeout_s: after which to give up; None: never.
        now: monotonic seconds.
    """

    def __init__(self, what: str, timeout_s: float | None, now: float) -> None:
        self._what = what
        self._until = None if timeout_s is None else now + timeout_s
        self._status: str | None = None
        self._every_s = SOONEST_LOOK_S
        self._away_since: float | None = None

    def after_news(self, status: str, now: float) -> float:
        """Return the seconds until the next look, after one that found this status. Raises NotReached when late."""
        self._status, self._away_since = status, None
        return self._within(self._next(_GROWTH), now, None)

    def after_no_news(self, error: SederuntClientError, now: float) -> float:
        """Return the seconds until the next look, after one that was not answered.

        Raises the error where waiting does not help, NotReached when late or when the service was away for too long.
        """
        if isinstance(error, ApiError) and error.status == 429:  # the service is there
            self._away_since = None
            return self._within(
                max(self._next(_GROWTH_OF_A_BUSY_KEY), told_pause(error.retry_after_s or 0)), now, error
            )
        if not isinstance(error, NotReached) and not (isinstance(error, ApiError) and error.status in PASSING):
            raise error
        if self._away_since is None:
            self._away_since = now
        if now - self._away_since > PATIENCE_S:
            raise NotReached(f"The service was away for {PATIENCE_S:g} s: {error}") from error
        return self._within(self._next(_GROWTH), now, error)

    def _next(self, growth: float) -> float:
        """Return the seconds between two looks, more each time, and not the same for all who wait."""
        every_s, self._every_s = self._every_s, min(self._every_s * growth, LATEST_LOOK_S)
        return every_s * random.uniform(0.75, 1.25)  # noqa: S311  # keeps no secret

    def _within(self, pause: float, now: float, error: SederuntClientError | None) -> float:
        if self._until is None:
            return pause
        if now < self._until:
            return min(pause, self._until - now)
        told = (
            f"The {self._what} is still {self._status}." if self._status else f"Nothing is known of the {self._what}."
        )
        raise NotReached(f"{told} {error}" if error else told) from error
