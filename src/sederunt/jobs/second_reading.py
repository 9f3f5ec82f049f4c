"""Corrects the live lines of Whisper after a meeting: loud sound without words is transcribed again."""

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

# Prefix of the ids of added lines, by which a repeated job recognises them.
ADDED = "again-"
# What the detector missed is short and hard to hear, so the best model reads it.
SECOND_MODEL = "vendor1-best"
# Why words may be missing where this reading was not possible.
NOT_READ_AGAIN = "loud sound without words could not be looked for in the recording"
# A track with less audible sound than this cannot lack words.
LEAST_HEARD_S = 1.0

logger = log.get(component="jobs")


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondReading:
    """The lines that a second reading changes, and the doubts that remain."""

    changed: tuple[LiveLine, ...]  # new, or with different words
    doubts: tuple[Doubt, ...]  # sound that still has no words


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackReader:
    """Reads one bot's tracks again."""

    bot: Bot
    facts: Mapping[str, Any]  # tracks.json
    model: ModelRow  # for the reading
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
            own_lines = [line for line in lines if line.source == track["source"]]
            change, wordless = await self._of_track(path, track, own_lines)
            path.unlink()
            changes[track["source"]] = change
            doubts += [Doubt(start=round(start, 2), end=round(end, 2), why=WORDLESS) for start, end in wordless]
        meeting = await self._meeting()
        changed_lines = await asyncio.to_thread(_written, self.bot, lines, changes, meeting)
        return SecondReading(changed=changed_lines, doubts=tuple(sorted(doubts, key=lambda doubt: doubt.start)))

    async def _of_track(
        self, path: Path, track: Mapping[str, Any], own_lines: Sequence[LiveLine]
    ) -> tuple[Revision, list[Stretch]]:
        """Return the changes in one track's lines, and the stretches that still lack words."""
        wordless = await asyncio.to_thread(unheard_in, path, [word for line in own_lines for word in words_of(line)])
        if not wordless:
            return Revision(), []
        is_unheard = not own_lines and track["heard_s"] >= UNHEARD_S
        stretches = [(0.0, self.facts["duration_s"])] if is_unheard else to_read(wordless, own_lines)
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
        utterances = await self.workload.run(partial(self._read, path, stretches, seconds))
        change = revision(own_lines, stretches if is_unheard else wordless, utterances)
        words_now = [*(word for line in own_lines for word in words_of(line))]
        words_now += [
            word
            for utterance in (*(new_utterance for _, new_utterance in change.revised), *change.added)
            for word in utterance.words
        ]
        return change, await asyncio.to_thread(still_without, wordless, words_now)

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
    """Publish written lines to the bot's listeners, and wait until the feed has them."""
    for line in lines:
        context.events.put(bot.id, line_message(line), line_message_id(bot.id, line))
    await context.events.flush()


def _written(
    bot: Bot, told_lines: Sequence[LiveLine], changes: Mapping[str, Revision], meeting: MeetingFacts
) -> tuple[LiveLine, ...]:
    """Return the changed lines, with the voices, numbers and names of the live transcription."""
    lines = LiveLines(told_lines, mask_lang=(_language(bot) or "") if bot.config.profanity_filter else None)
    changed_lines: list[LiveLine] = []
    for source, change in changes.items():
        for line, utterance in change.revised:
            changed_lines += lines.final(_segment(line.segment_id, source, utterance), meeting)
    added_utterances = [
        (utterance.start, source, utterance) for source, change in changes.items() for utterance in change.added
    ]
    known_count = sum(line.segment_id.startswith(ADDED) for line in told_lines)
    for number, (_, source, utterance) in enumerate(
        sorted(added_utterances, key=lambda entry: entry[:2]), known_count + 1
    ):
        changed_lines += lines.final(_segment(f"{ADDED}{number}", source, utterance), meeting)
    return tuple(changed_lines)


def _language(bot: Bot) -> str | None:
    """Return the requested language, else the one that was detected during the meeting."""
    lang = bot.config.lang
    return lang if is_known(lang) else bot.detected_lang or lang


def _segment(segment_id: str, source: str, utterance: Utterance) -> LiveSegment:
    return LiveSegment(
        segment_id=segment_id,
        source=source,
        start=utterance.start,
        end=utterance.end,
        transcript=utterance.transcript,
        confidence=utterance.confidence,
        words=utterance.words,
        lang=utterance.lang,
    )
