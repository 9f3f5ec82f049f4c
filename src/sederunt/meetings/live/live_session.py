"""The live side of a bot with realtime sockets, beside its recorder: mixed sound for listeners, and a live transcript.

Faults here are reported and never end the meeting: the recording goes on, and is transcribed after the meeting like any
other.
"""

import asyncio
from collections.abc import Sequence

from sederunt import log
from sederunt.clock import Clock
from sederunt.errors import NotFound, SederuntError, Superseded
from sederunt.meetings.context import VendorKeys
from sederunt.meetings.join.page_request import batch_ms
from sederunt.meetings.journal import Feed, Journal
from sederunt.meetings.live.line_writer import LineWriter
from sederunt.meetings.live.lines import LiveLines
from sederunt.meetings.live.mix import LiveMix
from sederunt.meetings.live.recent import RecentMeeting, RecordingClock
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.session.roster import Roster
from sederunt.model.audio import Packet
from sederunt.model.bot import Bot
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.access import Access
from sederunt.transcription.live import Frame, LiveTranscription
from sederunt.transcription.models import ModelRow, find, has_sockets, provider_of
from sederunt.transcription.realtime import open_live, prepare_live
from sederunt.transcription.sessions import NO_COPY_NOTES, CopyNotes
from sederunt.transcripts.attribution import is_mixed
from sederunt.transcripts.vendor_memory import LiveCopies, Owner

WRITE_S = 60.0  # how long the last lines wait for an unreachable database

logger = log.get(component="meetings")


async def warm_up(bot: Bot, settings: Settings) -> None:
    """Load the live model while the bot still knocks, so that the first words of a host's first bot do not wait."""
    model = find(bot.config.transcription_model)
    if model is None or not model.realtime:
        return
    try:
        await asyncio.to_thread(prepare_live, settings, model, bot.config.lang)
    except SederuntError as error:  # if it persists, listeners are told when the bot is inside
        logger.warning("live model not loaded", action="warm_up_failed", bot_id=str(bot.id), why=str(error))


async def open_live_session(
    journal: Journal,
    settings: Settings,
    feed: Feed,
    clock: Clock,
    *,
    stay: str,
    started_ms: int,
    roster: Roster,
    keys: VendorKeys | None = None,
    objects: Objects | None = None,
) -> "LiveSession | None":
    """Open the live side of one page; None for a bot without realtime sockets, which then has no cost.

    Args:
        stay: prefix of the ids of this page's segments: `recorder.stay_name`.
        started_ms: the recording's zero, in Unix milliseconds.
        keys: the source of the vendor's key, for a model that needs one.
        objects: where notes on what the vendor keeps are stored.
    """
    config = journal.bot.config
    if not has_sockets(config.transcription_model, realtime_audio=config.realtime_audio):
        return None
    model = find(config.transcription_model)
    model = model if model is not None and model.realtime else None
    earlier_lines = await journal.lines() if model is not None else []
    now = RecordingClock(clock, started_ms)
    recent = RecentMeeting(now, roster)
    lines = LiveLines(earlier_lines, mask_lang=(config.lang or "") if config.profanity_filter else None)
    writer = LineWriter(journal, lines, recent)
    transcription: LiveTranscription | None = None
    if model is not None:
        try:
            transcription = open_live(
                settings,
                model,
                on_event=writer.on_event,
                prefix=stay,
                lang=config.lang,
                vocabulary=config.custom_vocabulary,
                is_mixed=lambda source: is_mixed(source, roster.fold.sources),
                access=await _access(journal.bot, model, keys),
                copies=_copies(journal.bot, model, stay, objects),
            )
        except SederuntError as error:
            writer.trouble(f"Live transcription could not begin: {error}")
    writer.tell_again(earlier_lines)
    mix = LiveMix(journal.bot.id, feed, now, batch_s=batch_ms(config, settings.capture) / 1000)
    return LiveSession(journal, mix=mix, writer=writer, recent=recent, transcription=transcription, clock=now)


async def _access(bot: Bot, model: ModelRow, keys: VendorKeys | None) -> Access | None:
    row = provider_of(model)
    if row is None or keys is None:
        return None
    return await keys.of(bot.account_id, bot.config.transcription_credentials, row)


def _copies(bot: Bot, model: ModelRow, stay: str, objects: Objects | None) -> CopyNotes:
    if objects is None or model.provider is None:
        return NO_COPY_NOTES
    credential_id = bot.config.transcription_credentials
    owner = Owner(provider=model.provider, account_id=bot.account_id, credential_id=credential_id)
    return LiveCopies(objects, bot.id, stay, owner)


class LiveSession:
    """`start` it with the recorder, pass it the recorder's packets, `end` it with the stay, finally `close` it."""

    def __init__(
        self,
        journal: Journal,
        *,
        mix: LiveMix,
        writer: LineWriter,
        recent: RecentMeeting,
        transcription: LiveTranscription | None,
        clock: RecordingClock,
    ) -> None:
        self._journal, self._mix, self._writer, self._recent = journal, mix, writer, recent
        self._transcription, self._clock = transcription, clock
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: asyncio.Task[None] | None = None

    def take(self, packets: Sequence[Packet]) -> None:
        """Take packets of the recorder, in each source's order. Never raises: the recording must not suffer."""
        try:
            stretches = self._mix.take(packets)
            if self._transcription is not None and stretches:
                self._transcription.hear(
                    [Frame(stretch.source, stretch.start, stretch.samples) for stretch in stretches]
                )
        except Exception:
            self._writer.fault("sound not heard live")

    def start(self, recorder: Recorder) -> None:
        """Begin to send sound and to write lines."""
        self._recent.recorder = recorder
        bot_id = self._journal.bot.id
        self._tasks = [
            asyncio.create_task(self._beat_until_end(recorder), name=f"live sound {bot_id}"),
            asyncio.create_task(self._writer.run(), name=f"live lines {bot_id}"),
        ]

    async def _beat_until_end(self, recorder: Recorder) -> None:
        while self._closing is None:
            try:
                await self.beat(recorder)
            except Exception:
                self._writer.fault("live sound stumbled")
            await asyncio.sleep(self._mix.next_beat_s)

    async def beat(self, recorder: Recorder) -> None:
        """Advance the time by one beat, even if nothing has arrived."""
        recorder.tick(self._clock.now_ms())
        if self._transcription is not None:
            self._transcription.tick(self._mix.complete_until_s, patience_s=self._mix.patience_s)
        await self._mix.beat()

    def end(self, *, patient: bool = False) -> None:
        """End the mix at this moment; speech so far becomes final in the background.

        Args:
            patient: nobody waits for this stay to close, as the next stay or a host that is to end would.
        """
        if self._closing is None and self._tasks:
            self._closing = asyncio.create_task(self._settle(patient), name=f"live end {self._journal.bot.id}")

    async def _settle(self, patient: bool) -> None:
        ended_s = self._clock.now_s()
        await self._tasks[0]
        if self._recent.recorder is not None:
            await self.beat(self._recent.recorder)
        await self._mix.end(ended_s)
        if self._transcription is not None:
            await self._transcription.close(patient=patient)

    async def close(self) -> None:
        """Wait until all speech is written and published, if the database takes it at all."""
        self.end()
        if self._closing is None:
            return
        bot_id, write_task = str(self._journal.bot.id), self._tasks[1]
        try:
            await self._closing
        except Exception:
            self._writer.fault("the end was not transcribed")
        except asyncio.CancelledError:  # this host is to end; the next one has the recording transcribed
            write_task.cancel()
            raise
        self._writer.finish()
        try:
            async with asyncio.timeout(WRITE_S):
                await write_task
                if self._writer.language is not None:
                    await self._journal.mark(detected_lang=self._writer.language)
        except (Superseded, NotFound) as error:
            logger.info("lines are another holder's", action="lines_left", bot_id=bot_id, why=str(error))
        except TimeoutError:
            logger.error("last lines lost", action="lines_lost", bot_id=bot_id, count=self._writer.waiting)
        except Exception:
            logger.exception("live side not closed in order", action="live_faulty", bot_id=bot_id)
