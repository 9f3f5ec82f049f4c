"""Pages that take the machine's memory by many processes: each frame of another site has one, with a limit of its own.

A browser may take what one page may, and a quarter of that for each bot in it. Beyond it, its largest renderer ends.
"""

from collections.abc import Iterable, Mapping

from sederunt.browser.stopped_processes import ProcessState

SHARE_OF_A_BOT = 0.25


def largest_beyond(
    renderers: Iterable[ProcessState], bots: Mapping[int, int], page_memory_mb: float
) -> list[ProcessState]:
    """Return the largest renderer of each browser whose renderers take too much together.

    Args:
        bots: how many sit in each browser, by its session.
        page_memory_mb: what one page may take; 0 for no limit.
    """
    if not page_memory_mb:
        return []
    of: dict[int, list[ProcessState]] = {}
    for state in renderers:
        of.setdefault(state.session, []).append(state)
    return [
        max(ours, key=lambda state: state.memory_mb)
        for session, ours in of.items()
        if sum(state.memory_mb for state in ours) > page_memory_mb * (1 + SHARE_OF_A_BOT * bots.get(session, 0))
    ]
