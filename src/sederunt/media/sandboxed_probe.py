"""Look into callers' files in a sandboxed process."""

import threading
from pathlib import Path

from sederunt.media import sandbox
from sederunt.media.facts import MediaFacts
from sederunt.model.budgets import count_of

# A whole MP3 of 1 GB takes 3 s of CPU, an MP4 with all its packets counted 6 s (measured).
PROBE_CPU_S = count_of("probe_cpu_s")


def probe_sandboxed(path: Path, *, gives_way: int = 0, left: threading.Event | None = None) -> MediaFacts:
    """Return what `probe` finds, out of a process of its own. Blocks. Raises UnsupportedMedia, BrokenMedia,
    and ReaderLost where that process, too, was killed, or got no core.

    Args:
        gives_way: how much that process gives way to others, as nice(2) counts it.
        left: ends that process when it is set; raises Cancelled then.
    """
    return MediaFacts(**sandbox.answer("probe", path, PROBE_CPU_S, gives_way, losses=1, left=left))
