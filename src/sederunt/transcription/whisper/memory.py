"""Memory that is free but still held goes back to the system."""

import ctypes
from collections.abc import Callable
from functools import cache

# The network's buffers leave holes of all sizes in the C library's heap. Giving them back costs about 15 ms, so it is
# done once in so many windows: some two minutes of speech.
WINDOWS = 8


def give_back() -> None:
    """Have the C library return what nobody uses; does nothing with one that cannot (musl, macOS)."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
