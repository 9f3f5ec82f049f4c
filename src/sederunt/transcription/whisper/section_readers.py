"""Sections of one source read by several threads, a window per turn; the words do not depend on it."""

import threading
from collections.abc import Callable, Iterator

from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.scheduler import Lane, Rank
from sederunt.transcription.whisper import memory
from sederunt.transcription.whisper.sections import Sections, SoundSection

Parts = Callable[[SoundSection], Iterator[FinishedPart]]


class SectionReaders:
    """As many threads as there are cores, the caller's among them.

    Args:
        parts: what a section is read by; each step of it is a window.
        keep: told each part behind its window, without a core, and one at a time.
    """

    def __init__(
        self,
        sections: Sections,
        parts: Parts,
        keep: Callable[[FinishedPart], None],
        lane: Lane,
        cancelled: threading.Event,
    ) -> None:
        self._sections, self._parts, self._keep, self._lane, self._cancelled = sections, parts, keep, lane, cancelled
        self._taking, self._keeping = threading.Lock(), threading.Lock()
        self._ended = False  # the source
        self._kept = 0
        self._fault: BaseException | None = None

    def run(self) -> None:
        """Read everything. Raises what the first thread that failed raised: Cancelled, MediaError."""
        helpers = [
            threading.Thread(target=self._work, name=f"section-{number}", daemon=True)
            for number in range(1, self._lane.cores)
        ]
        for helper in helpers:
            helper.start()
        self._work()
        for helper in helpers:
            helper.join()
        if self._fault is not None:
            raise self._fault

    def _work(self) -> None:
        try:
            while (section := self._take()) is not None:
                with self._lane.turns(self._stopped, Rank.BEGUN) as turns:
                    for part in self._parts(section):
                        self._kept += 1
                        if self._kept % memory.WINDOWS == 0:
                            memory.give_back()
                        turns.offer()  # while the part is stored
                        with self._keeping:
                            self._keep(part)
                        turns.wait()
        except BaseException as fault:  # of a helper it would be nobody's
            self._fault = self._fault or fault

    def _take(self) -> SoundSection | None:
        """Return the next section, cut while holding a core."""
        with self._taking:
            if self._ended or self._stopped():
                return None
            with self._lane.turns(self._stopped, Rank.NEXT):
                section = self._sections.next()
            self._ended = section is None
            return section

    def _stopped(self) -> bool:
        return self._cancelled.is_set() or self._fault is not None
