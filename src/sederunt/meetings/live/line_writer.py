"""Writes the transcript of a running meeting as it grows. A line is published after it is in the database."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sederunt import counters, log
from sederunt.errors import NotFound, Superseded
from sederunt.meetings.journal import Journal
from sederunt.meetings.live.lines import LiveLines
from sederunt.meetings.live.recent import RecentMeeting
from sederunt.model.transcript import LiveLine
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.transcription.live import Event, Final, LiveSegment, Partial, Revised, Trouble

NAMES_S = 1.0  # how often lines without a name are checked again
TOLD_AGAIN_S = 60.0  # listeners may have missed what the last holder wrote this shortly before its death
LATE = "live_speech_late"  # in the bot's history: an engine that falls behind but loses nothing
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)

logger = log.get(component="meetings")


class LineWriter:
    """The lines, drafts and troubles of one page, on their way to journal and listeners."""

    def __init__(self, journal: Journal, lines: LiveLines, recent: RecentMeeting) -> None:
        self._journal, self._lines, self._recent = journal, lines, recent
        self._bot_id = str(journal.bot.id)
        self._finals: list[LiveSegment] = []
        self._drafts: dict[str, LiveSegment] = {}
        self._troubles: list[str] = []
        self._languages: Counter[str] = Counter()  # seconds of speech
        self._some = asyncio.Event()
        self._over = self._has_failed = False

    @property
    def waiting(self) -> int:
        """Return the number of final segments that are not written yet."""
        return len(self._finals)

    @property
    def language(self) -> str | None:
        """Return the language that was spoken most; None if none was reported."""
        return next((language for language, _ in self._languages.most_common(1)), None)

    def tell_again(self, lines: Sequence[LiveLine]) -> None:
        """Publish the last lines of the previous holder. The feed drops those already published, by their ids."""
        last_s = max((line.segment.start for line in lines), default=0.0)
        for line in lines:
            if line.segment.start >= last_s - TOLD_AGAIN_S:
                self._journal.tell_line(replace(line, revision=0))
                if line.revision:
                    self._journal.tell_line(line)

    def on_event(self, event: Event) -> None:
        """Take an event of the live transcription; `run` writes it."""
        match event:
            case Final(segment) | Revised(segment):
                self._drafts.pop(segment.segment_id, None)
                self._finals.append(segment)
                if segment.lang:
                    self._languages[segment.lang] += max(1, round(segment.end - segment.start))
            case Partial(segment):
                self._drafts[segment.segment_id] = segment
            case Trouble(message, lossy):
                self.trouble(message, lossy=lossy)
                return
            case _:
                return
        self._some.set()

    def trouble(self, message: str, *, lossy: bool = True) -> None:
        """Report a problem to the listeners and the bot's history; `lossy`: words may be missing because of it."""
        logger.warning("live transcription", action="live_trouble", bot_id=self._bot_id, why=message)
        self._journal.tell({"type": "error", "data": {"message": message}})
        if lossy:
            self._troubles.append(message)
            self._some.set()
        else:
            self._journal.note_trouble(PageTrouble(cause=LATE, seen=message, recovery=Recovery.NONE))

    def fault(self, what: str) -> None:
        """Log and report a fault of this program; only once, because it may recur with every packet."""
        if not self._has_failed:
            self._has_failed = True
            logger.exception(what, action="live_faulty", bot_id=self._bot_id)
            self.trouble("Live transcription stumbled over a fault of this program; some of it may be missing.")

    def finish(self) -> None:
        """Let `run` end once everything is written."""
        self._over = True
        self._some.set()

    async def run(self) -> None:
        """Write lines as they come, and names as they become known. Raises Superseded, NotFound."""
        while not (self._over and not self._finals and not self._troubles):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(NAMES_S):
                    await self._some.wait()
            self._some.clear()
            try:
                await self._write_lines()
                await self._write_troubles()
            except (Superseded, NotFound):
                raise
            except Exception:
                self.fault("lines not written")

    async def _write_lines(self) -> None:
        finals, self._finals = self._finals, []
        drafts, self._drafts = self._drafts, {}
        if not (finals or drafts or self._lines.lacks_names):
            return
        meeting = self._recent.facts([*finals, *drafts.values()])
        lines = [line for segment in finals for line in self._lines.final(segment, meeting)]
        lines += self._lines.renamed(meeting)
        if lines:
            await self._keep(lines)
            for line in lines:
                self._journal.tell_line(line)
                started_at = self._journal.bot.recording_started_at
                if started_at is not None and not line.revision:
                    counters.add(
                        "live_lag_seconds", "line", max(time.time() - started_at.timestamp() - line.segment.end, 0.0)
                    )
        for segment in drafts.values():
            await self._journal.tell_draft({"type": "ts-draft", "data": self._lines.draft(segment, meeting)})

    async def _keep(self, lines: Sequence[LiveLine]) -> None:
        # Retries while the database is unreachable: only lines that cannot be lost are published.
        latest = {line.segment_id: line for line in lines}  # the later of two states of a line
        for pause_s in itertools.chain(PAUSES_S, itertools.repeat(PAUSES_S[-1])):
            try:
                await self._journal.write_lines(list(latest.values()))
                return
            except (Superseded, NotFound):
                raise
            except Exception:
                logger.exception("lines not written, tried again", action="lines_waiting", bot_id=self._bot_id)
            await asyncio.sleep(pause_s)

    async def _write_troubles(self) -> None:
        while self._troubles:
            try:
                await self._journal.write_trouble(self._troubles[0])
            except (Superseded, NotFound):
                raise
            except Exception:
                logger.exception("trouble not written", action="trouble_waiting", bot_id=self._bot_id)
                await asyncio.sleep(PAUSES_S[0])
                return
            del self._troubles[0]
