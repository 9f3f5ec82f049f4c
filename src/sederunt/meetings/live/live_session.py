"""What a bot with realtime sockets does beside its recorder: mixed sound for listeners, and a transcript as it grows.

A line is in the database before anybody is told of it. Whatever goes wrong here is told, and never ends the meeting:
the recording goes on, and after the meeting it is transcribed like any other.
"""

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from sederunt import log
from sederunt.bus.feeds import publish_audio, publish_draft
from sederunt.clock import unix_ms
from sederunt.errors import NotFound, SederuntError, Superseded
from sederunt.media.live import BEHIND_S, LiveSound
from sederunt.meetings.context import BotContext
from sederunt.meetings.live.lines import RECENT_S, LiveLines, told
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.session.roster import Roster
from sederunt.model.audio import Packet
from sederunt.model.bot import Bot
from sederunt.model.history import LIVE_TROUBLE
from sederunt.model.participant import Participant
from sederunt.model.transcript import LiveLine
from sederunt.transcription.live import (
    Event,
    Final,
    Frame,
    LiveSegment,
    LiveTranscription,
    Partial,
    Revised,
    Trouble,
)
from sederunt.transcription.models import ModelRow, find, has_sockets
from sederunt.transcription.realtime import open_live, prepare_live
from sederunt.transcripts.attribution import MeetingFacts

BEAT_S = 0.05  # how often sound that is due is let go
MOST_LATE_S = 1.0  # sound later than this is not reckoned with when silence is told from sound to come
LATE_HALVED_S = 3.0  # how soon it is forgotten that packets came late
NAMES_S = 1.0  # how often lines without a name are looked at again
TOLD_AGAIN_S = 60.0  # what the last holder wrote so shortly before its death, listeners may not have heard
WRITE_S = 60.0  # how long the last lines wait for a database that is away
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)

logger = log.get(component="meetings")

Spoken: TypeAlias = Final | Revised


async def warm_up(bot: Bot, context: BotContext) -> None:
    """Load the live model while the bot still knocks: the first words of a host's first bot must not wait for it."""
    model = find(bot.config.transcription_model)
    if model is None or not model.realtime:
        return
    try:
        await asyncio.to_thread(prepare_live, context.settings, model, bot.config.lang)
    except SederuntError as error:  # told to the listeners when the bot sits, if it is so still
        logger.warning("live model not loaded", action="warm_up_failed", bot_id=str(bot.id), why=str(error))


async def open_live_session(
    bot: Bot, context: BotContext, *, stay: str, started_ms: int, roster: Roster
) -> "LiveSession | None":
    """For one page of a bot with realtime sockets; None for any other bot, which then pays nothing.

    Args:
        stay: begins the ids of this page's segments: `capture.stay_name`.
        started_ms: the recording's zero.
    """
    if not has_sockets(bot.config.transcription_model, realtime_audio=bot.config.realtime_audio):
        return None
    model = find(bot.config.transcription_model)
    realtime = model if model is not None and model.realtime else None
    kept = await context.live_lines.of(bot.id) if realtime else []
    return LiveSession(bot, context, stay=stay, started_ms=started_ms, roster=roster, model=realtime, kept=kept)


class LiveSession:
    """`start` it with the recorder, hand it the recorder's packets, `end` it with the stay, `close` it at last."""

    def __init__(
        self,
        bot: Bot,
        context: BotContext,
        *,
        stay: str,
        started_ms: int,
        roster: Roster,
        model: ModelRow | None,
        kept: Sequence[LiveLine],
    ) -> None:
        self._bot, self._context, self._roster, self._started_ms = bot, context, roster, started_ms
        self._sound = LiveSound(self._now_s())
        self._live_lines = LiveLines(kept, mask_lang=(bot.config.lang or "en") if bot.config.profanity_filter else None)
        self._finals: list[Spoken] = []
        self._drafts: dict[str, LiveSegment] = {}
        self._troubles: list[str] = []
        self._late_s = 0.0  # how late packets came, of late
        self._languages: Counter[str] = Counter()  # seconds of speech
        self._some = asyncio.Event()
        self._over = self._has_failed = False
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None
        self._transcription = self._open(model, stay) if model is not None else None
        self._tell_again(kept)

    def _open(self, model: ModelRow, stay: str) -> LiveTranscription | None:
        config = self._bot.config
        try:
            return open_live(
                self._context.settings,
                model,
                on_event=self._on_event,
                prefix=stay,
                lang=config.lang,
                vocabulary=config.custom_vocabulary,
            )
        except SederuntError as error:
            self._trouble(f"Live transcription could not begin: {error}")
            return None

    def _tell_again(self, kept: Sequence[LiveLine]) -> None:
        """Whatever the last holder told is known to the feed by its message id and dropped there."""
        last_s = max((line.segment.start for line in kept), default=0.0)
        for line in kept:
            if line.segment.start >= last_s - TOLD_AGAIN_S:
                self._tell(replace(line, revision=0))
                if line.revision:
                    self._tell(line)

    # --- sound ---------------------------------------------------------------------------------------------------

    def take(self, packets: Sequence[Packet]) -> None:
        """Packets of the recorder, in each source's order. Never raises: the recording must not suffer."""
        try:
            self._late_s = max([self._late_s, *(self._now_s() - packet.start - packet.duration for packet in packets)])
            stretches = self._sound.take(packets)
            if self._transcription is not None and stretches:
                self._transcription.hear([Frame(each.source, each.start, each.samples) for each in stretches])
        except Exception:
            self._faulty("sound not heard live")

    def start(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tasks = [
            asyncio.create_task(self._beat(), name=f"live sound {self._bot.id}"),
            asyncio.create_task(self._write(), name=f"live lines {self._bot.id}"),
        ]

    async def _beat(self) -> None:
        while self._closing is None:
            try:
                await self._turn()
            except Exception:
                self._faulty("live sound stumbled")
            await asyncio.sleep(BEAT_S)

    async def _turn(self) -> None:
        """Time goes on, though nothing may arrive."""
        assert self._recorder is not None
        self._recorder.tick(self._now_ms())
        now_s = self._now_s()
        if self._transcription is not None:
            # Silence that is told too early stands between the halves of a word.
            self._transcription.tick(now_s - min(max(BEHIND_S, self._late_s), MOST_LATE_S))
        self._late_s *= 0.5 ** (BEAT_S / LATE_HALVED_S)
        await self._publish(self._sound.blocks(now_s))

    async def _publish(self, blocks: Sequence[bytes]) -> None:
        for block in blocks:
            await publish_audio(self._context.bus, self._bot.id, block)

    # --- lines ---------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        match event:
            case Final(segment) | Revised(segment):
                self._drafts.pop(segment.segment_id, None)
                self._finals.append(event)
                if segment.lang:
                    self._languages[segment.lang] += max(1, round(segment.end - segment.start))
            case Partial(segment):
                self._drafts[segment.segment_id] = segment
            case Trouble(message, lossy):
                self._trouble(message, lossy=lossy)
                return
            case _:
                return
        self._some.set()

    async def _write(self) -> None:
        """Lines as they come, and names as they are found out, until everything is written."""
        while not (self._over and not self._finals and not self._troubles):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(NAMES_S):
                    await self._some.wait()
            self._some.clear()
            try:
                await self._write_down()
                await self._note_troubles()
            except (Superseded, NotFound):
                raise
            except Exception:
                self._faulty("lines not written")

    async def _write_down(self) -> None:
        finals, self._finals = self._finals, []
        drafts, self._drafts = self._drafts, {}
        if not (finals or drafts or self._live_lines.lacks_names):
            return
        meeting = self._meeting([*(said.segment for said in finals), *drafts.values()])
        lines = [line for said in finals for line in self._live_lines.final(said.segment, meeting)]
        lines += self._live_lines.renamed(meeting)
        if lines:
            await self._keep(lines)
            for line in lines:
                self._tell(line)
        for segment in drafts.values():
            message = {"type": "ts-draft", "data": self._live_lines.draft(segment, meeting)}
            await publish_draft(self._context.bus, self._bot.id, message)

    async def _keep(self, lines: Sequence[LiveLine]) -> None:
        """Into the database, however long it is away: nobody is told what could still be lost."""
        last = {line.segment_id: line for line in lines}  # of two states of one line the later
        for pause_s in itertools.chain(PAUSES_S, itertools.repeat(PAUSES_S[-1])):
            try:
                await self._context.live_lines.save(self._bot.id, list(last.values()), epoch=self._bot.epoch)
                return
            except (Superseded, NotFound):
                raise
            except Exception:
                logger.exception("lines not written, tried again", action="lines_waiting", bot_id=str(self._bot.id))
            await asyncio.sleep(pause_s)

    def _tell(self, line: LiveLine) -> None:
        """A line is one `ts` for good; what is found out later has a type of its own, for clients that append."""
        message_id = f"ts-{self._bot.id}-{line.segment_id}-{line.revision}"
        kind = "ts-revised" if line.revision else "ts"
        self._context.events.put(self._bot.id, {"type": kind, "data": told(line)}, message_id)

    def _meeting(self, said: Sequence[LiveSegment]) -> MeetingFacts:
        """What is known now of who is there and who speaks; of speaking only what is recent."""
        now_s = max([self._now_s(), *(segment.end for segment in said)])  # our clock may have been set back
        since_s = now_s - RECENT_S
        since_ms = self._started_ms + round(since_s * 1000)
        return MeetingFacts(
            duration_s=now_s,
            started_ms=self._started_ms,
            participants=[_lately(person, since_ms) for person in self._roster.participants],
            links=self._roster.sources,
            spans=self._recorder.spans(since_s) if self._recorder is not None else (),
        )

    # --- trouble -------------------------------------------------------------------------------------------------

    def _trouble(self, message: str, *, lossy: bool = True) -> None:
        logger.warning("live transcription", action="live_trouble", bot_id=str(self._bot.id), why=message)
        self._context.events.put(self._bot.id, {"type": "error", "data": {"message": message}})
        if lossy:
            self._troubles.append(message)
            self._some.set()

    def _faulty(self, what: str) -> None:
        """A fault of our own, in one of the tasks here; told once, for it may come back with every packet."""
        if not self._has_failed:
            self._has_failed = True
            logger.exception(what, action="live_faulty", bot_id=str(self._bot.id))
            self._trouble("Live transcription stumbled over a fault of this program; some of it may be missing.")

    async def _note_troubles(self) -> None:
        """On the row, so that the transcript is made again after the meeting."""
        while self._troubles:
            try:
                data = {"message": self._troubles[0][:500]}
                await self._context.bots.add_event(self._bot.id, LIVE_TROUBLE, data, epoch=self._bot.epoch)
            except (Superseded, NotFound):
                raise
            except Exception:
                logger.exception("trouble not written", action="trouble_waiting", bot_id=str(self._bot.id))
                await asyncio.sleep(PAUSES_S[0])
                return
            del self._troubles[0]

    # --- the end -------------------------------------------------------------------------------------------------

    def end(self, *, patient: bool = False) -> None:
        """The stay is over: the mix ends with this moment, and what was said becomes final meanwhile.

        Args:
            patient: nobody waits for this stay to be closed, as the next one would, or a host that shall end.
        """
        if self._closing is None and self._tasks:
            self._closing = asyncio.create_task(self._settle(patient=patient), name=f"live end {self._bot.id}")

    async def _settle(self, *, patient: bool) -> None:
        ended_s = self._now_s()
        await self._tasks[0]
        await self._turn()
        await self._publish(self._sound.end(ended_s))
        if self._transcription is not None:
            await self._transcription.close(patient=patient)

    async def close(self) -> None:
        """Everything that was said is written and told when this returns, if the database takes it at all."""
        self.end()
        if self._closing is None:
            return
        try:
            await self._closing
        except Exception:
            self._faulty("the end was not transcribed")
        except asyncio.CancelledError:  # this host shall end; the next one has the recording transcribed
            self._tasks[1].cancel()
            raise
        self._over = True
        self._some.set()
        try:
            async with asyncio.timeout(WRITE_S):
                await self._tasks[1]
                for language, _ in self._languages.most_common(1):
                    await self._context.bots.mark(self._bot.id, epoch=self._bot.epoch, detected_lang=language)
        except (Superseded, NotFound) as error:
            logger.info("lines are another holder's", action="lines_left", bot_id=str(self._bot.id), why=str(error))
        except TimeoutError:
            logger.error("last lines lost", action="lines_lost", bot_id=str(self._bot.id), count=len(self._finals))
        except Exception:
            logger.exception("live side not closed in order", action="live_faulty", bot_id=str(self._bot.id))

    def _now_ms(self) -> int:
        return unix_ms(self._context.clock.now())

    def _now_s(self) -> float:
        return (self._now_ms() - self._started_ms) / 1000


def _lately(person: Participant, since_ms: int) -> Participant:
    """The participant without what they did long ago, but for the last of it."""
    old = sum(event.timestamp < since_ms for event in person.events)
    return replace(person, events=person.events[max(0, old - 1) :]) if old > 1 else person
