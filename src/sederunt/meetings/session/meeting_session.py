"""One try at a meeting on one page: knock, sit, leave. Returns how it went; writes no status."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sederunt import log
from sederunt.browser.page import MeetingPage
from sederunt.clock import unix_ms
from sederunt.errors import PageCrashed, PageError, PageStuck, Superseded
from sederunt.meetings.context import BotContext
from sederunt.meetings.diagnostics import keep_claims_meanwhile
from sederunt.meetings.join.avatar import picture_at
from sederunt.meetings.join.entry import enter, until_entered
from sederunt.meetings.join.identity import Identity
from sederunt.meetings.join.page_request import batch_ms, page_request
from sederunt.meetings.live.live_session import LiveSession, open_live_session
from sederunt.meetings.outcomes import Departed, Outcome, broken, ended_by, known_until_ms
from sederunt.meetings.record.capture_fallback import CaptureFallback
from sederunt.meetings.record.recorder import Recorder, stay_name
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.media_link import MediaLink
from sederunt.meetings.session.observer import MeetingObserver
from sederunt.meetings.session.outages import Outages
from sederunt.meetings.session.page_chores import PageChores
from sederunt.meetings.session.page_reader import PageReader
from sederunt.meetings.session.stop_rules import rules_for
from sederunt.meetings.session.watcher import PageLooks, Watcher
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.platform import Platform
from sederunt.tracing import traced

LAST_WORDS_S = 0.5  # to fetch captured sound from a page whose bot another host is about to bring back
DYING_S = 1.0  # a page that did not answer may be dead, and its death may be reported a moment later

logger = log.get(component="meetings")


@asynccontextmanager
async def open_session(
    context: BotContext,
    platform: Platform,
    commands: Commands,
    *,
    number: int,
    identity: Identity,
    avatar: bytes | None,
) -> "AsyncIterator[MeetingSession]":
    """Open a fresh page for a try, and close it when the try is over. Raises PageError if there is no page.

    Args:
        number: of the page, among this holder's.
        identity: under which the bot enters.
        avatar: the picture of the bot's camera, unless a command has changed it; None for no camera.
    """
    journal, bot, settings = context.journal, context.journal.bot, context.settings
    journal.begin_page()
    avatar = commands.picture or avatar
    request = page_request(bot, platform, settings.capture, settings.browser, identity=identity, avatar=avatar)
    link = MediaLink(replaces_mute=number == 1)
    observer = MeetingObserver(platform.decoder(own_name=bot.config.bot_name), journal, link)
    if bot.recording_started_at is not None:
        observer.roster.recall(await journal.participants())
    page = await context.pool.open(
        request,
        on_frames=observer.frames_arrived,
        on_signal=observer.signal_arrived,
        on_trouble=journal.note_trouble,
        now_ms=lambda: context.clock.now().timestamp() * 1000,
    )
    chores = PageChores(
        platform,
        page,
        str(bot.id),
        camera=avatar is not None,
        anybody_known=lambda: bool(observer.roster.fold.participants),
        network_heard=lambda: observer.decoder.roster_heard,
        knows_itself=lambda: observer.roster.knows_itself,
        doubts_company=lambda: observer.roster.fold.doubts_company,
        on_trouble=journal.note_trouble,
    )
    session = MeetingSession(
        context,
        platform,
        commands,
        number=number,
        identity=identity,
        page=page,
        observer=observer,
        chores=chores,
    )
    try:
        yield session
    finally:
        await session.close()


class MeetingSession:
    """One open page and what the bot does on it. `open_session` makes it."""

    def __init__(
        self,
        context: BotContext,
        platform: Platform,
        commands: Commands,
        *,
        number: int,
        identity: Identity,
        page: MeetingPage,
        observer: MeetingObserver,
        chores: PageChores,
    ) -> None:
        self._context, self._platform, self._commands, self._number = context, platform, commands, number
        self.page, self.observer, self._chores = page, observer, chores
        self.identity = identity
        self.sat_s = 0.0  # seconds in the meeting
        self._came_back = context.journal.bot.recording_started_at is not None  # the greeting was sent before
        self._live: LiveSession | None = None
        self._fallback: CaptureFallback | None = None  # while the bot is inside
        self._is_silent = False  # the page died, or did not answer for too long
        commands.look = page.screenshot

    @property
    def stay(self) -> str:
        """Return this page's name, unique among all pages of all holders."""
        return stay_name(self._context.journal.bot.epoch, self._number)

    @property
    def recorder(self) -> Recorder | None:
        """Return the recorder; None before the bot was let in."""
        return self.observer.recorder

    @property
    def answers(self) -> bool:
        """Return whether the page can be asked: each question to a dead or frozen one would cost its deadline."""
        return not (self._is_silent or self.page.gone.is_set())

    @traced("knock")
    async def knock(self, link: MeetingLink, limits: EntryLimits) -> Outcome | None:
        """Try to get in; return None once inside, else how the try ended. A stop or a cut-off ends it at once."""
        entry = enter(
            self._context,
            self._platform,
            link,
            self.page,
            self.identity,
            limits=limits,
            on_identity=self._become,
            noted=lambda: self.observer.decoder.noted,
        )
        try:
            outcome = await until_entered(entry, self.page, self._commands, self._context.journal)
        except PageError as error:
            return await self._broken(error)
        if outcome is not None:
            return outcome
        self.observer.roster.entered(unix_ms(self._context.clock.now()), waited=limits.waited_outside)
        limits.note_inside()
        return None

    def _become(self, identity: Identity) -> None:
        self.identity = identity

    async def _broken(self, error: PageError) -> Outcome:
        # If an answer did not come because the renderer died, its death is the cause to report.
        self._is_silent = isinstance(error, PageStuck | PageCrashed)
        if isinstance(error, PageStuck):
            await self._commands.wait(self.page.gone.wait(), within_s=DYING_S)
        return ended_by(self.page.gone_by) if self.page.gone.is_set() else broken(error)

    async def settle(self) -> None:
        """Answer notices and open the lists of people and chat before the stay, to observe them from the beginning."""
        await self._chores.settle()

    @traced("sit")
    async def sit(self, *, started_ms: int, on_recording: Callable[[], None] = lambda: None) -> Outcome:
        """Record until something ends the stay.

        Args:
            started_ms: the zero of the recording, in Unix milliseconds.
            on_recording: called when recording begins.
        """
        context, clock = self._context, self._context.clock
        resumed_ms = unix_ms(clock.now())
        live = self._live = await open_live_session(
            context.journal,
            context.settings,
            context.feed,
            clock,
            stay=self.stay,
            started_ms=started_ms,
            roster=self.observer.roster,
            keys=context.vendor_keys,
            objects=context.objects,
        )
        recorder = self._make_recorder(started_ms, live)
        self.observer.record(recorder)
        recorder.start()
        on_recording()
        if live is not None:
            live.start(recorder)
        fallback = self._fallback = CaptureFallback(
            self.page,
            recorder,
            context.settings.capture,
            clock,
            str(context.journal.bot.id),
            replaces=self._number == 1,
        )
        watcher = self._make_watcher(recorder, fallback, started_ms=started_ms, resumed_ms=resumed_ms)
        seated_at = clock.monotonic()
        greet_task = asyncio.ensure_future(self._greet())
        claims_task = asyncio.ensure_future(
            keep_claims_meanwhile(context.journal, self.stay, self.observer.roster, context.objects)
        )
        outcome: Outcome | None = None
        try:
            outcome = await watcher.run()
        except PageError as error:
            outcome = await self._broken(error)
        finally:
            self.sat_s = clock.monotonic() - seated_at
            if live is not None:
                live.end(patient=isinstance(outcome, Departed))
            await self._chores.close()
            for task in (greet_task, claims_task):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, PageError):
                    await task
            now_ms, last_ms = unix_ms(clock.now()), recorder.last_frame_ms
            self.observer.end_speech(known_until_ms(outcome, last_frame_ms=last_ms, now_ms=now_ms))
            if not self._commands.cut_off.is_set():
                with contextlib.suppress(Superseded):
                    await self.observer.write()
                    if (trouble := fallback.unreported()) is not None:
                        context.journal.note_trouble(trouble)
                        await context.journal.write_troubles()
        return outcome

    def _make_recorder(self, started_ms: int, live: LiveSession | None) -> Recorder:
        bot, settings = self._context.journal.bot, self._context.settings.capture
        return Recorder(
            bot_id=bot.id,
            stay=self.stay,
            started_ms=started_ms,
            piece_s=settings.piece_s,
            batch_ms=batch_ms(bot.config, settings),
            spool=self._context.spool(),
            on_speech=self.observer.speech_changed,
            on_packets=live.take if live else None,
            cut_off=self._commands.cut_off,
        )

    def _make_watcher(
        self, recorder: Recorder, fallback: CaptureFallback, *, started_ms: int, resumed_ms: int
    ) -> Watcher:
        context, bot = self._context, self._context.journal.bot
        reader = PageReader(
            self._platform,
            self.page,
            decoder=self.observer.decoder,
            recorder=recorder,
            clock=context.clock,
            bot_id=str(bot.id),
        )
        looks = PageLooks(
            self.page,
            reader=reader,
            parse_link=self._platform.parse_link,
            chores=self._chores,
            clock=context.clock,
            waiting_s=bot.config.stop_options.waiting_room_timeout * 60,
            is_first=self._number == 1,
        )
        outages = Outages(self.page, self.observer.link, recorder, context.journal, started_ms=started_ms)
        return Watcher(
            page=self.page,
            looks=looks,
            observer=self.observer,
            outages=outages,
            fallback=fallback,
            rules=rules_for(bot.config.stop_options, started_ms=started_ms, resumed_ms=resumed_ms),
            commands=self._commands,
            journal=context.journal,
            clock=context.clock,
            wakes_for_news=self._live is not None,
        )

    async def _greet(self) -> None:
        # Once notices are closed and the chat is open, the bot takes commands.
        await self._chores.settle()
        self._commands.can_act(say=self._say, show=self._show)
        bot = self._context.journal.bot
        if (message := bot.config.initial_chat_message) and not self._came_back:
            try:
                await self._say(message)
            except PageError as error:
                logger.warning("greeting not sent", action="greeting_failed", bot_id=str(bot.id), why=str(error))

    async def _say(self, text: str) -> None:
        # Raises PageError; Superseded if the bot has another holder, which speaks for it.
        await self._context.journal.check_holder()
        self.observer.roster.wrote(text, unix_ms(self._context.clock.now()))
        await self._chores.say(text)

    async def _show(self, address: str) -> None:
        # Raises, with a message for the caller, if the picture cannot be fetched or shown.
        context = self._context
        allow_private = context.settings.allow_private_addresses
        picture = await picture_at(
            address, context.journal.bot.account_id, context.readers, allow_private=allow_private
        )
        if not await self.page.show_picture(picture):
            raise PageError("this page shows no pictures of bots.")
        self._commands.picture = picture
        await self._chores.switch_camera_on(context.clock)

    async def capture_facts(self, *, ask: bool = True) -> dict[str, object]:
        """Return what was captured and how; if nothing was, the page's backend, unless `ask` is false."""
        facts: dict[str, object] = dict(self.recorder.facts()) if self.recorder else {}
        facts["missed"] = self.observer.missed
        # Speech that a site showed only for a moment and without sound was a mistake.
        was_shown = bool(facts.get("packets")) or (self._fallback is not None and self._fallback.missed_speech)
        facts["shown_speaking"] = was_shown and self.observer.roster.fold.anyone_spoke
        if not facts.get("backend") and ask:
            with contextlib.suppress(PageError):
                facts["backend"] = (await self.page.capture_state()).get("backend")
        if self.page.cost is not None:
            cost = await self.page.cost()
            facts |= {"cpu_s": cost.cpu_s, "memory_mib": cost.memory_mib}
        return facts

    async def secure(self) -> None:
        """Make all sound so far durable."""
        if self.recorder is None:
            return
        if self.answers:
            with contextlib.suppress(PageError):
                await self.page.flush()
        await self.recorder.secure()

    @traced("leave")
    async def leave(self) -> None:
        """Leave as a person would; a page that fails to leave is closed anyway."""
        with contextlib.suppress(PageError):
            await self._platform.leave(self.page)

    async def vanish(self) -> None:
        """Close the page without leaving the meeting in good order. Captured sound is still fetched from it."""
        if self.recorder is not None and self.answers:
            with contextlib.suppress(PageError):
                await self.page.flush(deadline_s=LAST_WORDS_S)
        await self.page.close()

    async def close(self) -> None:
        """Close the page, then the recorder and the live side: the last sound is durable when this returns."""
        self._commands.can_act(say=None, show=None)
        self._commands.look = None
        async with contextlib.AsyncExitStack() as stack:  # each is closed even if the one before fails
            if self._live is not None:
                stack.push_async_callback(self._live.close)
            if self.recorder is not None:
                stack.push_async_callback(self.recorder.close)
            stack.push_async_callback(self.page.close)
            if self.recorder is not None and self.answers:  # the last sound is still on its way
                with contextlib.suppress(PageError):
                    await self.page.flush()
