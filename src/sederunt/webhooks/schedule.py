"""When to try an event again, and when to give it up: one table, one pure function."""

from datetime import datetime, timedelta

from sederunt.database.deliveries import Attempt, DeliveryState

_MINUTE, _HOUR = 60, 3600

# Before the second, third, … attempt; in total a little less than 24 hours.
PAUSES_S = (
    5,
    30,
    2 * _MINUTE,
    5 * _MINUTE,
    15 * _MINUTE,
    30 * _MINUTE,
    1 * _HOUR,
    2 * _HOUR,
    4 * _HOUR,
    6 * _HOUR,
    10 * _HOUR,
)

GONE = 410  # the receiver's own word for "never again"


LONGEST_RETRY_AFTER_S = 24.0 * _HOUR


def after(
    attempt: Attempt, made_before: int, *, retryable: bool = True, retry_after_s: float | None = None
) -> tuple[DeliveryState, datetime | None]:
    """Return (state, time of the next attempt) after an attempt; `made_before` counts the attempts before it.

    A receiver that states when to try again is not asked earlier.
    """
    if attempt.status is not None and 200 <= attempt.status < 300:
        return DeliveryState.DELIVERED, None
    if not retryable or attempt.status == GONE or made_before >= len(PAUSES_S):
        return DeliveryState.GIVEN_UP, None
    pause_s = max(PAUSES_S[made_before], min(retry_after_s or 0.0, LONGEST_RETRY_AFTER_S))
    return DeliveryState.PENDING, attempt.at + timedelta(seconds=pause_s)
