"""One try at a meeting on one page: knock, sit, leave. Says how it went; writes no status."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from sederunt import log
from sederunt.browser.page import MeetingPage, Signal
from sederunt.browser.signals import without_bulk
from sederunt.clock import unix_ms
from sederunt.errors import PageCrashed, PageError, PageStuck, Superseded
from sederunt.meetings.context import BotContext
from sederunt.meetings.join.avatar import picture_at
from sederunt.meetings.join.entry import enter
from sederunt.meetings.join.identity import GUEST, Identity
from sederunt.meetings.join.page_request import batch_ms, page_request
from sederunt.meetings.live.live_session import LiveSession, open_live_session
from sederunt.meetings.live.messages import message_of
from sederunt.meetings.outcomes import Broken, CutOff, Departed, Outcome, Refused, broken
from sederunt.meetings.record.recorder import Recorder, stay_name
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.page_chores import PageChores
from sederunt.meetings.session.roster import Change, PersonWrote, Roster
from sederunt.meetings.session.stop_rules import Departure, first_departure, rules_for
from sederunt.model.audio import CapturedFrame
from sederunt.model.bot import Bot
from sederunt.model.status import StopReason
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.platform import Platform

TICK_S = 1.0
READ_EVERY_S = 3.0  # the page itself is asked this often; signals from the page come by themselves
ASK_ROW_EVERY_S = 5.0  # a stop whose command was lost stands on the row
RECONNECT_S = 60.0  # a site may show "reconnecting" this long
LOST_S = 60.0  # a page that is none we know may stay so this long before it is tried anew
FROZEN_S = 15.0  # a page that answers no look for so long is dead: three of them
BUSY_S = 25.0  # … and so long while its frames keep coming: a fresh page costs a gap, and a guest another knock
FED_S = 5.0  # frames keep coming where the last is no older than this
DYING_S = 1.0  # a page that did not answer may be dead, and its death be told a moment later
CAMERA_S = 5.0  # how long a site may take to switch the bot's camera on
KEPT_SIGNALS = 50

logger = log.get(component="meetings")


class MeetingSession:
    """Holds the page, the scene and the recorder of one try.

    Args:
        number: of the page, among this holder's.
        identity: as whom the bot enters.
        avatar: what the bot's camera shows; None for no camera.
    """

    def __init__(
        self,
        *,
        bot: Bot,
        context: BotContext,
        platform: Platform,
        link: MeetingLink,
        commands: Commands,
        number: int,
        identity: Identity = GUEST,
        avatar: bytes | None = None,
    ) -> None:
        self.identity, self._avatar = identity, commands.picture or avatar
        self.sat_s = 0.0  # how long it was in the meeting
        self._seated_at = 0.0
        self._stay = stay_name(bot.epoch, number)
        self._bot, self._context, self._platform, self._link, self._commands = bot, context, platform, link, commands
        self._decoder = platform.decoder(own_name=bot.config.bot_name)
        self.roster = Roster()
        self.recorder: Recorder | None = None
        self._live: LiveSession | None = None
        self._news = asyncio.Event()  # something that live listeners must not wait for
        self._tab: MeetingPage | None = None
        self.signals: deque[Signal] = deque(maxlen=KEPT_SIGNALS)
        self._audible: set[str] = set()
        self._fallback_asked = False
        self._silent = False  # the page died, or answered nothing for too long
        self._unanswered_since: float | None = None  # the first of the looks that the page does not answer
        self._shown_since_ms: int | None = None
        self._outbox: list[Change] = []
        self._kept_sources: dict[str, str] = {}  # whose each source is, as it stands in the database
        self._chores = PageChores(
            platform,
            str(bot.id),
            anybody_known=lambda: bool(self.roster.participants),
            network_heard=lambda: self._decoder.roster_heard,
        )

    async def __aenter__(self) -> "MeetingSession":
        request = page_request(
            self._bot, self._platform, self._context.settings, identity=self.identity, avatar=self._avatar
        )
        if self._bot.recording_started_at is not None:
            self.roster.recall(await self._context.bots.participants(self._bot.id))
        self._tab = await self._context.pool.open(request, on_frames=self._on_frames, on_signal=self._on_signal)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._commands.can_act(say=None, show=None)
        if self._tab is not None:
            if self.recorder is not None and self.answers:  # the last words are still on their way
                with contextlib.suppress(PageError):
                    await self._tab.flush()
            await self._tab.close()
        if self.recorder is not None:
            await self.recorder.close()
        if self._live is not None:
            await self._live.close()

    # --- knock ---------------------------------------------------------------------------------------------------

    async def knock(self) -> Outcome | None:
        """Try to get in. None once inside; else how it ended. A stop or a cut-off ends the try at once."""
        joining = asyncio.ensure_future(
            enter(
                self._bot,
                self._context,
                self._platform,
                self._link,
                self.page,
                self.identity,
                on_state=self._note_state,
                on_identity=self._become,
                noted=lambda: self._decoder.noted,
            )
        )
        try:
            interrupted = await self._until(joining)
            return interrupted if interrupted is not None else joining.result()
        except PageError as error:
            return await self._broken(error)
        finally:
            joining.cancel()
            with contextlib.suppress(asyncio.CancelledError, PageError):
                await joining

    async def _broken(self, error: PageError) -> Outcome:
        """What a page's fault means; a renderer that died is the truer cause of an answer that did not come."""
        self._silent = isinstance(error, PageStuck | PageCrashed)
        if isinstance(error, PageStuck):
            await self._pause(DYING_S)
            if self.page.gone.is_set():
                return broken(PageCrashed(str(error)))
        return broken(error)

    def _become(self, identity: Identity) -> None:
        self.identity = identity

    def _note_state(self, reading: Reading) -> None:
        logger.info("standing", action="standing_changed", bot_id=str(self._bot.id), to=reading.state, row=reading.row)

    async def _until(self, joining: "asyncio.Future[Outcome | None]") -> Outcome | None:
        """Wait for the end of joining, watching for commands and the row."""
        watchers: dict[asyncio.Future[Any], Outcome] = {
            asyncio.ensure_future(self._commands.stop.wait()): Refused(
                reason=StopReason.MANUALLY_STOPPED, row="order.stop"
            ),
            asyncio.ensure_future(self._commands.cut_off.wait()): CutOff(),
            asyncio.ensure_future(self.page.gone.wait()): Broken(cause="page_crashed", seen="while joining"),
        }
        try:
            while True:
                done, _ = await asyncio.wait(
                    {joining, *watchers}, timeout=ASK_ROW_EVERY_S, return_when=asyncio.FIRST_COMPLETED
                )
                if joining in done:
                    return None
                if done:
                    return watchers[done.pop()]
                await self._ask_row()
        finally:
            for watcher in watchers:
                watcher.cancel()

    # --- sit -----------------------------------------------------------------------------------------------------

    async def sit(self, *, started_ms: int) -> Outcome:
        """Record until something ends the stay. The recorder runs from here on."""
        now_ms = self._now_ms()
        self._live = await open_live_session(
            self._bot, self._context, stay=self._stay, started_ms=started_ms, roster=self.roster
        )
        self.recorder = Recorder(
            bot_id=self._bot.id,
            stay=self._stay,
            started_ms=started_ms,
            piece_s=self._context.settings.capture.piece_s,
            batch_ms=batch_ms(self._bot, self._context.settings),
            spool=self._context.spool_of(self._bot.id),
            objects=self._context.objects,
            on_speech=self._on_speech,
            on_packets=self._live.take if self._live else None,
        )
        rules = rules_for(self._bot.config.stop_options, started_ms=started_ms, resumed_ms=now_ms)
        self.recorder.start()
        if self._live is not None:
            self._live.start(self.recorder)
        self._seated_at = self._context.clock.monotonic()
        greeting = asyncio.ensure_future(self._greet())
        outcome: Outcome | None = None
        try:
            outcome = await self._watch(rules)
        except PageError as error:
            outcome = await self._broken(error)
        finally:
            self.sat_s = self._context.clock.monotonic() - self._seated_at
            if self._live is not None:
                self._live.end(patient=isinstance(outcome, Departed))
            await self._chores.close()
            greeting.cancel()
            with contextlib.suppress(asyncio.CancelledError, PageError):
                await greeting
            self._announce(self.roster.hush(self._now_ms()))
            with contextlib.suppress(Superseded):
                await self._journal()
        return outcome

    async def _greet(self) -> None:
        """After admission: close notices, open the chat, say the first word."""
        await self._settle()
        self._commands.can_act(say=self._say, show=self._show)
        if message := self._bot.config.initial_chat_message:
            try:
                await self._say(message)
            except PageError as error:
                logger.warning("greeting not sent", action="greeting_failed", bot_id=str(self._bot.id), why=str(error))

    async def _settle(self) -> None:
        await self._chores.settle(self.page, camera=self._avatar is not None)

    async def _say(self, text: str) -> None:
        await self._chores.say(self.page, text)

    async def _show(self, address: str) -> None:
        """Another picture for the bot's camera. Raises with a sentence where it cannot be had, or not be shown."""
        picture = await picture_at(address, self._context.settings)
        if not await self.page.show_picture(picture):
            raise PageError("this page shows no pictures of bots.")
        self._avatar = self._commands.picture = picture
        if await self.page.shows_picture():
            return
        await self._settle()
        until = self._context.clock.monotonic() + CAMERA_S
        while not await self.page.shows_picture():
            if self._context.clock.monotonic() > until:
                raise PageError("the site has not switched the bot's camera on.")
            await self._settle()

    async def _watch(self, rules: tuple[Any, ...]) -> Outcome:
        """The long wait: once a second look at commands, rules and the scene; less often at page and row."""
        trouble_since: dict[PageState, float] = {}
        next_read = next_row = self._context.clock.monotonic()
        while True:
            ended = self._ended(rules)
            if ended is not None:
                return ended
            now = self._context.clock.monotonic()
            if now >= next_read:
                next_read = now + READ_EVERY_S
                outcome = await self._look(trouble_since, now)
                if outcome is not None:
                    return outcome
            if now >= next_row:
                next_row = now + ASK_ROW_EVERY_S
                await self._ask_row()
            await self._listen_harder()
            await self._journal()
            await self._pause(TICK_S)

    def _ended(self, rules: tuple[Any, ...]) -> Outcome | None:
        now_ms = self._now_ms()
        if self.recorder is not None:
            self.recorder.tick(now_ms)
        if self._audible:
            self.roster.sound(now_ms)
        if self._commands.cut_off.is_set():
            return CutOff()
        if self.page.gone.is_set():
            return Broken(cause="page_crashed", seen="in the meeting")
        if self._commands.stop.is_set():
            return Departed(departure=Departure(reason=StopReason.MANUALLY_STOPPED, row="order.stop"))
        if self.roster.removed:
            return Departed(departure=Departure(reason=StopReason.KICKED, row="signal.removed"))
        if self.roster.over:
            return Departed(departure=Departure(reason=StopReason.MEETING_ENDED, row="signal.over"))
        departure = first_departure(rules, self.roster, now_ms)
        return Departed(departure=departure) if departure else None

    async def _look(self, trouble_since: dict[PageState, float], now: float) -> Outcome | None:
        """Read the page's standing and say whether it ends the stay."""
        reading = await self._read(now)
        if reading is None:
            return None
        match reading.state:
            case PageState.IN_CALL:
                trouble_since.clear()
                inside_s = now - self._seated_at
                self._chores.look_for_people(self.page, camera=self._avatar is not None, inside_s=inside_s)
            case PageState.DIALOG:
                if not self._chores.is_busy:  # else it is asked again at the next look
                    await self._settle()
            case PageState.REMOVED:
                return Departed(departure=Departure(reason=StopReason.KICKED, row=reading.row))
            case PageState.OVER:
                return Departed(departure=Departure(reason=StopReason.MEETING_ENDED, row=reading.row))
            case state:
                since = trouble_since.setdefault(state, now)
                limit = RECONNECT_S if state is PageState.RECONNECTING else LOST_S
                if now - since >= limit:
                    return Broken(cause="connection_lost", seen=f"{reading.row}: {reading.seen}")
        return None

    async def _read(self, now: float) -> Reading | None:
        """Where the page stands. None where it did not answer in time: it may be busy, and answer the next look. Raises
        PageStuck once it has answered none for too long."""
        try:
            reading = await self._platform.read(self.page, joined=True, noted=self._decoder.noted)
        except PageStuck as error:
            since = self._unanswered_since = now if self._unanswered_since is None else self._unanswered_since
            if self._context.clock.monotonic() - since >= (BUSY_S if self._is_fed else FROZEN_S):
                raise
            logger.warning("look not answered", action="look_unanswered", bot_id=str(self._bot.id), why=str(error))
            return None
        self._unanswered_since = None
        return reading

    @property
    def _is_fed(self) -> bool:
        """Whether the page still hands over what it hears: that needs none of what looks need."""
        last_ms = self.recorder.last_frame_ms if self.recorder is not None else None
        return last_ms is not None and self._now_ms() - last_ms <= FED_S * 1000

    async def _listen_harder(self) -> None:
        """Somebody is shown speaking and no frame comes: change the capture backend, once."""
        now_ms = self._now_ms()
        if not self.roster.someone_shown_speaking or self.recorder is None:
            self._shown_since_ms = None
            return
        self._shown_since_ms = self._shown_since_ms or now_ms
        last_ms = max(self.recorder.last_frame_ms or 0, self._shown_since_ms)
        if now_ms - last_ms < self._context.settings.capture.deaf_after_s * 1000 or self._fallback_asked:
            return
        self._fallback_asked = True
        if self._context.settings.capture.backend == "auto":
            logger.warning("capture is deaf", action="capture_fell_back", bot_id=str(self._bot.id))
            try:
                await self.page.use_backend("worklet")
            except PageStuck:  # whether the page is frozen, the looks tell; it is asked again when it was deaf as long
                self._fallback_asked, self._shown_since_ms = False, self._now_ms()

    async def capture_facts(self, *, ask: bool = True) -> dict[str, object]:
        """What was captured and how; where nothing was, by what the page listened, unless it is known not to answer."""
        facts: dict[str, object] = dict(self.recorder.facts()) if self.recorder else {}
        facts["shown_speaking"] = any(p.events for p in self.roster.participants)
        if facts.get("backend") or not ask:
            return facts
        with contextlib.suppress(PageError):
            facts["backend"] = (await self.page.capture_state()).get("backend")
        return facts

    # --- leave ---------------------------------------------------------------------------------------------------

    async def leave(self) -> None:
        """Leave as a person would; a page that will not is closed anyway."""
        with contextlib.suppress(PageError):
            await self._platform.leave(self.page)

    # --- what the page tells -------------------------------------------------------------------------------------

    def _on_frames(self, frames: Sequence[CapturedFrame]) -> None:
        if self.recorder is not None:
            self.recorder.frames_arrived(frames)

    def _on_signal(self, signal: Signal) -> None:
        self.signals.append(without_bulk(signal))
        for event in self._decoder.decode(signal):
            self._announce(self.roster.apply(event))

    def _on_speech(self, source: str, speaking: bool, at_ms: int) -> None:
        (self._audible.add if speaking else self._audible.discard)(source)
        self._announce(self.roster.heard(source, speaking, at_ms))

    def _announce(self, changes: Sequence[Change]) -> None:
        self._outbox.extend(changes)
        if changes and self._live is not None:
            self._news.set()

    async def _journal(self) -> None:
        """Write what changed to the row's tables, then tell the listeners. A database that is away ends no meeting."""
        (changes, self._outbox), told = (self._outbox, []), 0
        self._news.clear()
        changed, sources = self.roster.take_changed(), dict(self.roster.sources)
        try:
            if changed or changes or sources != self._kept_sources:
                await self._context.bots.save_participants(self._bot.id, changed, sources, epoch=self._bot.epoch)
                self._kept_sources = sources
            for change in changes:
                if isinstance(change, PersonWrote):
                    data = {"username": change.message.username, "content": change.message.content}
                    await self._context.bots.add_event(self._bot.id, "chat_message", data)
                self._context.events.put(self._bot.id, message_of(change))
                told += 1
        except Superseded:
            raise
        except Exception:
            logger.exception("journal not written, kept for later", action="journal_kept", bot_id=str(self._bot.id))
            self.roster.keep_changed(changed)
            self._outbox = [*changes[told:], *self._outbox]

    async def _ask_row(self) -> None:
        """A stop may stand on the row alone. A database that is away is asked again later."""
        try:
            if (await self._context.bots.get(self._bot.id)).stop_requested:
                self._commands.stop.set()
        except Exception:
            logger.exception("row not read", action="row_unread", bot_id=str(self._bot.id))

    async def _pause(self, seconds: float) -> None:
        """Wait, but wake at once for an order, a dead page, or news for live listeners."""
        events = [self._commands.stop, self._commands.cut_off, self.page.gone]
        if self._live is not None:
            events.append(self._news)
        tasks = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    @property
    def page(self) -> MeetingPage:
        assert self._tab is not None, "a visit is used inside its context"
        return self._tab

    @property
    def answers(self) -> bool:
        """Whether the page can be asked: of a dead or frozen one each question would cost its deadline."""
        return not (self._silent or self.page.gone.is_set())

    def _now_ms(self) -> int:
        return unix_ms(self._context.clock.now())
