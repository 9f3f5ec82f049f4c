"""Pages that take the machine's memory by many processes, or in the browser's own: frames of other sites have a process
and a limit each, and what a page stores (blobs, databases of a private window) lies in the browser's main process.

A browser may take what one page may, and a quarter of that for each bot in it. Beyond it, one of its renderers ends:
the largest; or, where most of the memory is the main process's, the one that ran most, since that one is filling it.
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
    """Return the renderer to end of each browser that takes too much.

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
