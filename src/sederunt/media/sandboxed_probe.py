"""Look into callers' files in a sandboxed process."""

import threading
from pathlib import Path

from sederunt.media import sandbox
from sederunt.media.facts import MediaFacts
from sederunt.model.budgets import count_of

# A whole MP3 of 1 GB takes 3 s of CPU, an MP4 with all its packets counted 6 s (measured).
PROBE_CPU_S = count_of("probe_cpu_s")


def probe_sandboxed(path: Path, *, gives_way: int = 0, left: threading.Event | None = None) -> MediaFacts:
    """Return the result of `probe` in a process of its own. Blocks.

    Raises UnsupportedMedia, BrokenMedia, and ReaderLost if a second process was killed too, or got no core.

    Args:
        gives_way: how much that process gives way to others, as nice(2) counts it.
        left: once set, that process is ended and Cancelled is raised.
    """
    return MediaFacts(**sandbox.answer("probe", path, PROBE_CPU_S, gives_way, losses=1, left=left))
