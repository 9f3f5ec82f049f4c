"""Limits on memory that the network's libraries keep: fewer kernels, and regular release of free memory."""

import os

# The network's buffers leave holes of all sizes in the C library's heap. Giving them back costs about 15 ms, so it
# happens once in so many parts, about two minutes of speech.
PARTS = 4
# oneDNN keeps a compiled kernel for each of the last 1024 shapes, and every window has its own length: 96 MB in a
# quarter of an hour, but 15 MB with this limit, and no slower.
KERNELS = "32"


def keep_few_kernels() -> None:
    """Limit oneDNN's kernel cache; call before the first use of a network. An operator's own setting wins."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KERNELS)
