"""Return to the system the memory that the C library keeps for later."""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Have the C library return unused memory; do nothing if it cannot (musl, macOS)."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
