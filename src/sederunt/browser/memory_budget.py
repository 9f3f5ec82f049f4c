"""Limit pages that take too much memory by many processes, or in the browser's own: frames of other sites have a
process and a limit each, and a page's stored data (blobs, databases of a private window) is in the main process.

A browser may take as much as one page may, and a quarter of that for each bot in it. Beyond that one of its renderers
is ended: the largest; or, if the main process has most of the memory, the one that ran most, since it fills that.
"""

from collections.abc import Callable, Iterable, Mapping

from sederunt.browser.stopped_processes import ProcessState

SHARE_OF_A_BOT = 0.25


def beyond_memory(
    renderers: Iterable[ProcessState],
    mains_mb: Mapping[int, float],
    bots: Mapping[int, int],
    page_memory_mb: float,
    ran_s: Callable[[ProcessState], float],
) -> list[ProcessState]:
    """Return the renderer to end in each browser that takes too much.

    Args:
        mains_mb: the memory of each browser's main process, by its session.
        bots: how many sit in each browser, by its session.
        page_memory_mb: what one page may take; 0 for no limit.
        ran_s: CPU-seconds that a renderer used lately.
    """
    if not page_memory_mb:
        return []
    by_session: dict[int, list[ProcessState]] = {}
    for state in renderers:
        by_session.setdefault(state.session, []).append(state)
    culprits = []
    for session, states in by_session.items():
        main_mb = mains_mb.get(session, 0.0)
        pages_mb = sum(state.memory_mb for state in states)
        if main_mb + pages_mb > page_memory_mb * (1 + SHARE_OF_A_BOT * bots.get(session, 0)):
            culprits.append(max(states, key=ran_s if main_mb > pages_mb else _memory_mb))
    return culprits


def _memory_mb(state: ProcessState) -> float:
    return state.memory_mb
