"""Corrects the live lines of Whisper after a meeting: loud sound that has no words is transcribed again."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sederunt import log
from sederunt.clock import unix_ms
from sederunt.jobs.context import WorkerContext
from sederunt.meetings.live.lines import LiveLines
from sederunt.meetings.live.messages import line_message, line_message_id
from sederunt.model.bot import Bot
from sederunt.model.transcript import WORDLESS, Doubt, LiveLine, Utterance
from sederunt.recordings.spans import read_spans
from sederunt.transcription.languages import is_known
from sederunt.transcription.live import LiveSegment
from sederunt.transcription.models import ModelRow
from sederunt.transcription.plugins import provider
from sederunt.transcription.provider import Task
from sederunt.transcription.scheduler import Workload
from sederunt.transcripts.attribution import MeetingFacts
from sederunt.transcripts.live_transcript import UNHEARD_S
from sederunt.transcripts.revision import Revision, Stretch, revision, to_read, words_of
from sederunt.transcripts.untranscribed import still_without, unheard_in

# Lines that this reading added are told by their ids, so that a worker that comes back knows them.
ADDED = "again-"
# What the detector lost is hard to hear, and little: it is read with the most care.
SECOND_MODEL = "vendor1-best"
# Why words may be missing where this reading was not possible.
NOT_READ_AGAIN = "loud sound without words could not be looked for in the recording"
# A track with less audible sound than this holds nothing that a reading could lack.
LEAST_HEARD_S = 1.0

logger = log.get(component="jobs")


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondReading:
    """What a second reading changes in the lines, and what it leaves in doubt."""

    changed: tuple[LiveLine, ...]  # new, or with other words than before
    doubts: tuple[Doubt, ...]  # sound that has no word now either


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackReader:
    """Reads one bot's tracks again."""

    bot: Bot
    facts: Mapping[str, Any]  # tracks.json
    model: ModelRow  # that reads
    context: WorkerContext
    scratch: Path  # for its files
    cancelled: threading.Event  # tells its thread to stop
    workload: Workload  # lends the cores

    async def read_again(self, lines: Sequence[LiveLine]) -> SecondReading:
        """Return what the live lines lack. Raises ProviderError, SetupError, MediaError, Cancelled."""
        changes: dict[str, Revision] = {}
        doubts: list[Doubt] = []
        for track in self.facts["sources"]:
            if track["heard_s"] < LEAST_HEARD_S:
                continue
            path = self.scratch / track["file"]
            await self.context.objects.get_file(f"bots/{self.bot.id}/tracks/{track['file']}", path)
            own = [line for line in lines if line.source == track["source"]]
            change, left = await self._of_track(path, track, own)
            path.unlink()
            changes[track["source"]] = change
            doubts += [Doubt(start=round(start, 2), end=round(end, 2), why=WORDLESS) for start, end in left]
        meeting = await self._meeting()
        changed = await asyncio.to_thread(_written, self.bot, lines, changes, meeting)
        return SecondReading(changed=changed, doubts=tuple(sorted(doubts, key=lambda doubt: doubt.start)))

    async def _of_track(
        self, path: Path, track: Mapping[str, Any], own: Sequence[LiveLine]
    ) -> tuple[Revision, list[Stretch]]:
        """Return what changes in one track's lines, and what lacks words even then."""
        wordless = await asyncio.to_thread(unheard_in, path, [word for line in own for word in words_of(line)])
        if not wordless:
            return Revision(), []
        unheard = not own and track["heard_s"] >= UNHEARD_S
        stretches = [(0.0, self.facts["duration_s"])] if unheard else to_read(wordless, own)
        seconds = sum(end - start for start, end in stretches)
        logger.info(
            "loud sound without words is read again",
            action="second_reading",
            bot_id=str(self.bot.id),
            track=track["file"],
            stretches=len(wordless),
            seconds=round(seconds, 1),
        )
        self.workload.sound_s += seconds
        read = await self.workload.run(partial(self._read, path, stretches, seconds))
        change = revision(own, stretches if unheard else wordless, read)
        after = [*(word for line in own for word in words_of(line))]
        after += [word for said in (*(new for _, new in change.revised), *change.added) for word in said.words]
        return change, await asyncio.to_thread(still_without, wordless, after)

    def _read(self, path: Path, stretches: Sequence[Stretch], seconds: float) -> tuple[Utterance, ...]:
        config, settings = self.bot.config, self.context.settings
        assert self.model.provider is not None, "the model 'none' transcribes nothing"
        task = Task(
            path=path,
            model=self.model,
            lang=_language(self.bot),
            vocabulary=config.custom_vocabulary,
            stretches=stretches,
            cancelled=self.cancelled,
            lane=self.workload.lane(sound_s=seconds, length_s=self.facts["duration_s"]),
        )
        return provider(self.model.provider).transcribe(settings, task).utterances

    async def _meeting(self) -> MeetingFacts:
        bot, bots = self.bot, self.context.bots
        return MeetingFacts(
            duration_s=self.facts["duration_s"],
            started_ms=unix_ms(bot.recording_started_at) if bot.recording_started_at else 0,
            participants=await bots.participants(bot.id, with_events=True),
            links=dict(await bots.sources(bot.id)),
            spans=await read_spans(self.context.objects, bot.id),
        )


async def tell(bot: Bot, lines: Sequence[LiveLine], context: WorkerContext) -> None:
    """Tell the bot's listeners of lines that are written, and wait until the feed has them."""
    for line in lines:
        context.events.put(bot.id, line_message(line), line_message_id(bot.id, line))
    await context.events.flush()


def _written(
    bot: Bot, told: Sequence[LiveLine], changes: Mapping[str, Revision], meeting: MeetingFacts
) -> tuple[LiveLine, ...]:
    """Return the lines that change, with voices, numbers and names as they had while the meeting went on."""
    lines = LiveLines(told, mask_lang=(_language(bot) or "") if bot.config.profanity_filter else None)
    changed: list[LiveLine] = []
    for source, change in changes.items():
        for line, said in change.revised:
            changed += lines.final(_segment(line.segment_id, source, said), meeting)
    added = [(said.start, source, said) for source, change in changes.items() for said in change.added]
    known = sum(line.segment_id.startswith(ADDED) for line in told)
    for number, (_, source, said) in enumerate(sorted(added, key=lambda each: each[:2]), known + 1):
        changed += lines.final(_segment(f"{ADDED}{number}", source, said), meeting)
    return tuple(changed)


def _language(bot: Bot) -> str | None:
    """Return the language that was asked for, else the one that was found while the meeting went on."""
    asked = bot.config.lang
    return asked if is_known(asked) else bot.detected_lang or asked


def _segment(segment_id: str, source: str, said: Utterance) -> LiveSegment:
    return LiveSegment(
        segment_id=segment_id,
        source=source,
        start=said.start,
        end=said.end,
        transcript=said.transcript,
        confidence=said.confidence,
        words=said.words,
        lang=said.lang,
    )
