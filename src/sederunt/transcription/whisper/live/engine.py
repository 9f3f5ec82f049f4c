"""Reads the live speech of all bots of a process in a few threads, one reading at a time each.

The event loop only hands sound over; detector, features and network run in the threads (CTranslate2 releases the
GIL). Nothing runs while there is no sound.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sederunt import log
from sederunt.errors import SederuntError
from sederunt.transcription.sessions import Draft, Onset, Over, Said, SessionEvent, Settled, Warned
from sederunt.transcription.whisper.live.pace import Pace
from sederunt.transcription.whisper.live.selector import LanguageSelector
from sederunt.transcription.whisper.live.track import OpenUtterance, Track, Turn
from sederunt.transcription.whisper.live.voices import SharedStream
from sederunt.transcription.whisper.speech import RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = log.get(component="transcription")

# The most sound that waits in a stream's inbox; only a stalled machine exceeds it.
MOST_WAITING_S = 60.0
BEHIND = "This machine cannot follow the live speech: finals come late. Fewer bots or more cores would help."
LOST = "This machine could not follow the live speech, and some of it has no live transcript."


class Place:
    """One stream in the engine. `tell` may be called from any thread."""

    def __init__(
        self,
        selector: LanguageSelector,
        tell: Callable[[SessionEvent], None],
        track: Track | None = None,
        voices: SharedStream | None = None,
    ) -> None:
        self.selector, self.tell, self.voices = selector, tell, voices
        self.track = track or Track()
        self.inbox: deque[NDArray[np.int16]] = deque()
        self.waiting = 0  # samples in the inbox
        self.lost = 0  # samples dropped before those
        self.busy = self.finishing = False


class Engine:
    """Schedules the readings of all streams. Without threads, `work_once` is called by hand."""

    def __init__(self, pace: Pace, *, threads: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.pace, self._clock = pace, clock
        self.observe: Callable[[float], None] | None = None  # gets the lateness of each reading, by the configured step
        self._places: list[Place] = []
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=self._run, name=f"live-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def join(self, place: Place) -> None:
        with self._changed:
            self._places.append(place)

    def feed(self, place: Place, samples: NDArray[np.int16]) -> None:
        with self._changed:
            place.inbox.append(samples)
            place.waiting += len(samples)
            while place.waiting > MOST_WAITING_S * RATE and len(place.inbox) > 1:
                dropped_samples = len(place.inbox.popleft())
                place.waiting -= dropped_samples
                place.lost += dropped_samples
                place.tell(Warned(LOST))
            self._changed.notify()

    def finish(self, place: Place) -> None:
        with self._changed:
            place.finishing = True
            self._changed.notify()

    def leave(self, place: Place) -> None:
        with self._changed:
            if place in self._places:
                self._places.remove(place)

    def work_once(self) -> bool:
        """Do the most urgent job; returns False if there is none."""
        with self._changed:
            job = self._next()
            if job is None:
                return False
            job[0].busy = True
        place, act = job
        try:
            act()
        except SederuntError as fault:
            self._fail(place, str(fault))
        except Exception as fault:  # one stream's failure must not affect the others
            logger.exception("A live stream failed.", action="live_stream_failed")
            self._fail(place, f"{type(fault).__name__}: {fault}")
        with self._changed:
            place.busy = False
            self._changed.notify()
        return True

    def _run(self) -> None:
        while True:
            if not self.work_once():
                with self._changed:
                    if self._next() is None:
                        self._changed.wait()

    def _next(self) -> tuple[Place, Callable[[], None]] | None:
        """Return the most urgent job: new sound first, since it is cheap and shows what else there is; then finals,
        then the most overdue draft.
        """
        talkers = self._talkers()
        step_s = self.pace.step(talkers)
        is_pressed = self.pace.is_pressed(talkers)
        best: tuple[tuple[int, float], Place, Turn, OpenUtterance] | None = None
        for place in self._places:
            if place.busy:
                continue
            if place.waiting >= place.track.wants or (place.finishing and not place.track.finished):
                return place, partial(self._take, place)
            try:
                turn = place.track.turn(step_s, pressed=is_pressed)
            except Exception as fault:  # otherwise this thread would end, and with it all live speech
                return place, partial(_raise, fault)
            if turn is None and place.finishing:
                return place, partial(self._end, place)
            if turn is not None and (best is None or (turn[0].value, -turn[2]) < best[0]):
                best = (turn[0].value, -turn[2]), place, turn[0], turn[1]
        if best is None:
            return None
        _, place, kind, utterance = best
        return place, partial(self._read, place, kind, utterance)

    def _take(self, place: Place) -> None:
        with self._changed:
            blocks, lost_samples = list(place.inbox), place.lost
            place.inbox.clear()
            place.waiting = place.lost = 0
        new_utterances = place.track.skip(lost_samples) if lost_samples else []
        new_utterances += place.track.take(np.concatenate(blocks)) if blocks else []
        if place.finishing and not place.inbox:
            new_utterances += place.track.finish()
        for utterance in new_utterances:
            place.tell(Onset(utterance.key, utterance.first / RATE))
        if len(place.track.closed) > place.track.cuts.most_waiting:
            place.tell(Warned(BEHIND, lossy=False))
        if place.track.given_up:
            place.tell(Warned(LOST))

    def _read(self, place: Place, kind: Turn, utterance: OpenUtterance) -> None:
        start = self._clock()
        late_s = place.waiting / RATE + place.track.overdue(kind, utterance, self.pace.step_s)
        if kind is Turn.FINAL:
            final, end_s = utterance.settled or place.selector.reader_for(utterance).final(utterance)
            place.track.done(utterance, end_s)
            for part in self._by_voice(place, final, utterance):
                place.tell(Settled(replace(part, lang=place.selector.found)))
            for key in utterance.also:
                place.tell(Settled(Said(key=key, start=final.start, end=final.end, transcript="", confidence=0.0)))
        elif kind is Turn.SETTLE:
            reading = place.selector.reader_for(utterance).final(utterance)
            place.track.settle(utterance, reading)
            place.tell(Draft(reading[0]))
        else:
            draft = place.selector.reader().draft(utterance)
            if draft is not None:
                place.tell(Draft(draft))
        spent_s = self._clock() - start
        if self.observe is not None:
            self.observe(late_s + spent_s)
        if kind is Turn.DRAFT:
            self.pace.drafted(spent_s)
        else:
            self.pace.finished(spent_s, utterance.seconds)

    def _by_voice(self, place: Place, final: Said, utterance: OpenUtterance) -> list[Said]:
        """Cut a final by voice if there is time; on a machine that is behind, words come first."""
        is_late = len(place.track.closed) > 1 or self.pace.is_pressed(self._talkers())
        return [final] if place.voices is None or is_late else place.voices.parts(final, utterance)

    def _talkers(self) -> int:
        return sum(place.track.open is not None for place in self._places)

    def _end(self, place: Place) -> None:
        self.leave(place)
        place.tell(Over())

    def _fail(self, place: Place, cause: str) -> None:
        self.leave(place)
        place.tell(Over(cause, retry=False))


def _raise(fault: Exception) -> None:
    raise fault
