"""Memory given back to the system."""

import platform

import psutil
import pytest

from sederunt.transcription import heap

MIB = 1 << 20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks this C library alone")
def test_holes_between_what_is_used_go_back() -> None:
    blocks = [bytearray(100_000) for _ in range(1000)]
    used = blocks[::50]
    del blocks
    held = psutil.Process().memory_info().rss
    heap.give_back()
    assert held - psutil.Process().memory_info().rss > 50 * MIB
    assert len(used) == 20


def test_it_may_be_asked_at_any_time() -> None:
    heap.give_back()
    heap.give_back()
