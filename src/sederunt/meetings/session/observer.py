"""Passes on the page's reports: signal → decoder → claims → roster → changes → journal."""

import asyncio
from collections import deque
from collections.abc import Sequence

from sederunt.browser.page import Signal
from sederunt.browser.signals import without_bulk
from sederunt.claims.changes import Change
from sederunt.meetings.journal import Journal
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.session.media_link import MediaLink
from sederunt.meetings.session.roster import Roster
from sederunt.model.audio import CapturedFrame
from sederunt.platforms.platform import Decoder

KEPT_SIGNALS = 50


class MeetingObserver:
    """Takes the frames and signals of one page; the roster and the last signals can be read at any time."""

    def __init__(self, decoder: Decoder, journal: Journal, link: MediaLink) -> None:
        self.decoder, self.roster, self._journal, self.link = decoder, Roster(), journal, link
        self.signals: deque[Signal] = deque(maxlen=KEPT_SIGNALS)
        self.recorder: Recorder | None = None
        self._kept: list[CapturedFrame] | None = None  # while there is no recorder; None: frames are dropped
        self.missed = 0  # packets of sound that the page received before it noticed that they were not captured
        self.has_news = asyncio.Event()  # changes that live listeners must not wait for

    def frames_arrived(self, frames: Sequence[CapturedFrame]) -> None:
        """Hand frames of the page to the recorder."""
        if self.recorder is not None:
            self.recorder.frames_arrived(frames)
        elif self._kept is not None:
            self._kept.extend(frames)

    def keep_frames(self) -> None:
        """Keep frames in memory from now on: the bot is inside, but its row does not say so yet."""
        self._kept = []

    def record(self, recorder: Recorder) -> None:
        """Hand the kept frames, and all later ones, to the recorder."""
        frames, self._kept, self.recorder = self._kept, None, recorder
        if frames:
            recorder.frames_arrived(frames)

    def signal_arrived(self, signal: Signal) -> None:
        """Fold a signal of the page into the roster."""
        self.signals.append(without_bulk(signal))
        if signal.kind == "capture":
            self.link.take(signal.data)
            if signal.data.get("event") == "deaf" and isinstance(missed_count := signal.data.get("missed"), int):
                self.missed += missed_count
        self._note(self.roster.take(self.decoder.decode(signal)))

    def speech_changed(self, source: str, speaking: bool, at_ms: int) -> None:
        """Fold in that a source's captured sound began or stopped."""
        self._note(self.roster.heard(source, speaking, at_ms))

    def tick(self, now_ms: int) -> None:
        """Advance the time: ongoing sound lasts until now, and claims expire."""
        if self.recorder is not None:
            self.recorder.tick(now_ms)
        self._note(self.roster.pass_time(now_ms))

    def end_speech(self, at_ms: int) -> None:
        """Note that the stay is over: no speech is known after this moment."""
        self._note(self.roster.hush(at_ms))

    async def write(self) -> None:
        """Write the changes since the last call, and tell the listeners. Raises Superseded."""
        self.has_news.clear()
        await self._journal.write_roster(self.roster)

    def _note(self, changes: Sequence[Change]) -> None:
        self._journal.note(changes)
        if changes:
            self.has_news.set()
