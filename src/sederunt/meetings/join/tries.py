"""Say how long a bot waits before it knocks once more: a person would not come back after ten milliseconds."""

import random

FIRST_S = 2.0
GROWTH = 2.0
JITTER = 0.5  # at most so much of a pause besides
LONGEST_S = 30.0


def pause_before_s(again: int) -> float:
    """Choose the pause in seconds before the `again`-th repetition (from 1): at least 2, growing, never the same."""
    return min(LONGEST_S, FIRST_S * GROWTH ** (again - 1)) * (1 + random.uniform(0, JITTER))  # noqa: S311
