"""What the network's libraries would keep: fewer kernels, and when to give back what is free."""

import os

# The network's buffers leave holes of all sizes in the C library's heap. Giving them back costs about 15 ms, so it is
# done once in so many parts: some two minutes of speech.
PARTS = 4
# oneDNN keeps a compiled kernel for each of the last 1024 shapes that it met, and every window has a length of its own:
# 96 MB in a quarter of an hour, 15 with so few, and not slower.
KERNELS = "32"


def keep_few_kernels() -> None:
    """Have oneDNN forget kernels of old shapes; before a network is first used. What the operator says holds."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KERNELS)
