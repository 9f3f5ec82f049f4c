"""Reads sections of one source in several threads, in turns of a window; the words do not depend on the threads."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from sederunt.transcription import heap
from sederunt.transcription.provider import FinishedPart
from sederunt.transcription.scheduler import Lane, Rank, Turns
from sederunt.transcription.whisper import memory
from sederunt.transcription.whisper.sections import Sections, SoundSection

# Takes a section and a function to call between two readings of one window.
Parts = Callable[[SoundSection, Callable[[], None]], Iterator[FinishedPart]]


class SectionReaders:
    """As many threads as there are cores, including the caller's.

    A core that is given back goes to the next in line, and may not come back before the end of a turn. So the caller
    hands over its turns, a section is cut and read in the same turns, and no thread waits for a core only to find that
    nothing is left.

    Args:
        parts: reads a section; each step is a few windows.
        keep: gets each part after its window, without a core, one at a time.
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

    def run(self, turns: Turns) -> None:
        """Read everything, the first section in the caller's turns, which end with it.

        Raises the error of the first thread that failed: Cancelled, MediaError.
        """
        helpers: list[threading.Thread] = []
        try:
            first_section = self._cut(turns)
            for number in range(1, 1 if self._ended else self._lane.cores):
                helpers.append(threading.Thread(target=self._help, name=f"section-{number}", daemon=True))
                helpers[-1].start()
            if first_section is not None:
                turns.pause()
                self._read(first_section, turns)
            turns.end()
            self._read_rest()
        except BaseException as fault:
            self._fault = self._fault or fault
            turns.end()
        for helper in helpers:
            helper.join()
        if self._fault is not None:
            raise self._fault

    def _help(self) -> None:
        try:
            self._read_rest()
        except BaseException as fault:  # otherwise nobody would see it
            self._fault = self._fault or fault

    def _read_rest(self) -> None:
        while True:
            with ExitStack() as core:
                with self._taking:
                    if self._ended or self._stopped():
                        return
                    turns = core.enter_context(self._lane.turns(self._stopped, Rank.NEXT))
                    section = self._cut(turns)
                if section is not None:
                    self._read(section, turns)

    def _cut(self, turns: Turns) -> SoundSection | None:
        """Return the next section; the caller holds a core, and gives way during a long silence."""
        section = self._sections.next(turns.pause)
        self._ended = section is None or self._sections.over
        return section

    def _read(self, section: SoundSection, turns: Turns) -> None:
        turns.rank = Rank.BEGUN
        for part in self._parts(section, turns.pause):
            self._kept += 1
            if self._kept % memory.PARTS == 0:
                heap.give_back()
            is_last = part.end >= section.end_s
            if is_last:
                turns.end()
            else:
                turns.offer()  # while the part is stored
            with self._keeping:
                self._keep(part)
            if is_last:
                return
            turns.wait()

    def _stopped(self) -> bool:
        return self._cancelled.is_set() or self._fault is not None
