"""Gives the memory that the C library keeps for later back to the system."""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Have the C library return what nobody uses; does nothing with one that cannot (musl, macOS)."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
