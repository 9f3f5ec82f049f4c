"""Waits in the meeting until something ends the stay: a command, a rule, the roster, the page, or the row."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sederunt.browser.page import MeetingPage
from sederunt.clock import Clock, unix_ms
from sederunt.errors import PageError
from sederunt.meetings.journal import Journal
from sederunt.meetings.outcomes import Broken, CutOff, Departed, Moved, Outcome, ended_by
from sederunt.meetings.record.capture_fallback import CaptureFallback
from sederunt.meetings.session.commands import Commands
from sederunt.meetings.session.observer import MeetingObserver
from sederunt.meetings.session.outages import Outages
from sederunt.meetings.session.page_chores import PageChores
from sederunt.meetings.session.page_reader import PageReader
from sederunt.meetings.session.stop_rules import Departure, StopRule, first_departure
from sederunt.meetings.session.told_end import ToldEnd
from sederunt.model.bot import PAGE_LEFT
from sederunt.model.status import StopReason
from sederunt.platforms.links import EMPTY_PAGE, MeetingLink, names_no_meeting, place_of
from sederunt.platforms.page_state import PageState, Reading

TICK_S = 1.0
ENDING_TICK_S = 0.5  # … once a signal has reported the end: the page is asked then
READ_EVERY_S = 3.0  # the page itself is asked this often; its signals come by themselves
HASTE_S = 2.0  # … and this much sooner if another document is in it
ASK_ROW_EVERY_S = 5.0  # the row has a stop even if its command was lost
RECONNECT_S = 60.0  # a site may show "reconnecting" this long
LOST_S = 60.0  # an unknown page may stay this long before it is replaced
FAULT_S = 10.0  # … and a page that reports a fault
# … and a page whose new document has the meeting's address and is loading: it may recover by itself.
RELOADED_S = 10.0
# … and a page whose new document has another address, or asks to join: no site joins again for a guest.
LEFT_S = 4.0
# A notice that does not go away is answered at this many looks in a row, then at every twentieth: once a minute.
NOTICE_TRIES, NOTICE_AGAIN = 5, 20

_PATIENCE_S = {PageState.RECONNECTING: RECONNECT_S, PageState.TROUBLE: FAULT_S}


class Watcher:
    """Checks commands, rules and the roster once a second; the page and the row less often.

    Args:
        wakes_for_news: whether the bot has live listeners, who must not wait for the next second.
    """

    def __init__(
        self,
        *,
        page: MeetingPage,
        looks: "PageLooks",
        observer: MeetingObserver,
        outages: Outages,
        fallback: CaptureFallback,
        rules: Sequence[StopRule],
        commands: Commands,
        journal: Journal,
        clock: Clock,
        wakes_for_news: bool,
    ) -> None:
        self._page, self._looks, self._observer, self._fallback = page, looks, observer, fallback
        self._outages = outages
        self._rules, self._commands, self._journal, self._clock = rules, commands, journal, clock
        self._told_end = ToldEnd(observer, clock)
        self._wakes = [page.gone, observer.has_news] if wakes_for_news else [page.gone]

    async def run(self) -> Outcome:
        """Wait for the end of the stay; return how it ended. Raises PageError, Superseded."""
        try:
            outcome = await self._until_ended()
        except PageError:
            if (departure := self._told_end.standing()) is None:
                raise
            outcome = Departed(departure=departure)
        # A broken page would be replaced by one that knocks, although the bot was removed or the meeting is over.
        if isinstance(outcome, Broken) and (departure := self._told_end.standing()) is not None:
            outcome = Departed(departure=departure)
        if not isinstance(outcome, Departed):  # the next page's gap begins at the last sound
            return outcome
        return replace(outcome, outages=self._outages.left_over(unix_ms(self._clock.now())))

    async def _until_ended(self) -> Outcome:
        next_look = next_row = self._clock.monotonic()
        while True:
            now_ms = unix_ms(self._clock.now())
            self._observer.tick(now_ms)
            if (outcome := self._ended(now_ms)) is not None:
                return outcome
            now = self._clock.monotonic()
            someone_speaks = self._observer.roster.fold.someone_speaks
            troubles = self._outages.found(
                now,
                now_ms,
                shown_speaking=someone_speaks,
                has_company=self._observer.roster.fold.has_company,
                site_reconnects=self._looks.site_reconnects,
            )
            is_ending = self._observer.roster.told_end() is not None
            if is_ending or troubles or now >= next_look - (HASTE_S if self._looks.is_urgent else 0):
                next_look = now + READ_EVERY_S
                outcome = await self._looks.look()
                if (departure := self._told_end.departure(self._looks.state)) is not None:
                    return Departed(departure=departure)
                if outcome is not None:
                    return outcome
            if (outcome := await self._outages.tell(troubles, now_ms)) is not None:
                return outcome
            if now >= next_row:
                next_row = now + ASK_ROW_EVERY_S
                if await self._journal.is_stop_requested():
                    self._commands.stop.set()
            in_call = self._looks.state in (PageState.IN_CALL, PageState.DIALOG)
            trouble = await self._fallback.check(someone_speaks, in_call, self._observer.roster.turns)
            if trouble is not None and (outcome := await self._outages.tell([trouble], now_ms)) is not None:
                return outcome
            await self._observer.write()
            await self._journal.write_troubles()
            tick_s = ENDING_TICK_S if is_ending else TICK_S
            await self._commands.wait(*(event.wait() for event in self._wakes), within_s=tick_s)

    def _ended(self, now_ms: int) -> Outcome | None:
        roster = self._observer.roster
        if self._commands.cut_off.is_set():
            return CutOff()
        if self._commands.moved.is_set():
            return Moved()
        if self._page.gone.is_set():
            return ended_by(self._page.gone_by)
        if self._commands.stop.is_set():
            return Departed(departure=Departure(reason=StopReason.MANUALLY_STOPPED, row="order.stop"))
        if roster.told_end() is not None:  # the page is asked at once, before any rule
            return None
        departure = first_departure(self._rules, roster, now_ms)
        return Departed(departure=departure) if departure else None


class PageLooks:
    """Looks at the page during one stay. Remembers for how long it has been in trouble."""

    def __init__(
        self,
        page: MeetingPage,
        *,
        reader: PageReader,
        parse_link: Callable[[str], MeetingLink],
        chores: PageChores,
        clock: Clock,
        waiting_s: float,
        is_first: bool,
    ) -> None:
        self._page, self._reader, self._parse_link, self._chores, self._clock = page, reader, parse_link, chores, clock
        self._waiting_s = waiting_s  # how long the caller lets the bot wait to be let in
        self._is_first = is_first  # no page of this bot was replaced yet
        self._began_at = clock.monotonic()
        self._documents, self._place = page.documents, place_of(page.url)
        self._trouble_since: dict[PageState, float] = {}
        self.state: PageState | None = None  # at the last look; None if it was not answered
        self._notices = 0  # looks in a row at which a notice covers the call

    async def look(self) -> Outcome | None:
        """Look once; return the outcome if the page ends the stay. Raises PageStuck, PageCrashed."""
        now, page_before = self._clock.monotonic(), (self._page.documents, place_of(self._page.url))
        reading = await self._reader.read()
        self.state = None if reading is None else reading.state
        if reading is None:
            return None
        match reading.state:
            case PageState.IN_CALL:
                self._notices = 0
                self._goes_on(now, page_before)
            case PageState.DIALOG:
                self._notices += 1
                await self._answer(now, page_before)
            case PageState.REMOVED:
                return Departed(departure=Departure(reason=StopReason.KICKED, row=reading.row))
            case PageState.OVER:
                return Departed(departure=Departure(reason=StopReason.MEETING_ENDED, row=reading.row))
            case PageState.LOBBY:
                return self._waits_again(now, reading)
            case state:
                return self._in_trouble(state, now, f"{reading.row}: {reading.seen}")
        return None

    def _goes_on(self, now: float, page_before: tuple[int, str]) -> None:
        # The page is in the call, with the document and place that it had before the look.
        self._trouble_since.clear()
        self._documents, self._place = page_before
        self._chores.look_for_people(inside_s=now - self._began_at)

    async def _answer(self, now: float, page_before: tuple[int, str]) -> None:
        # A notice that accepts no answer is tried now and then; the call goes on below it.
        is_lasting = self._notices > NOTICE_TRIES
        if is_lasting and not self.is_urgent:
            self._goes_on(now, page_before)
        if not self._chores.is_busy and (not is_lasting or self._notices % NOTICE_AGAIN == 0):  # else at the next look
            await self._chores.settle(anew=is_lasting)

    def _waits_again(self, now: float, reading: Reading) -> Outcome | None:
        # The bot was put back into the lobby, or the host left. It waits as long as its caller allows, because a fresh
        # page would have to wait as well.
        if now - self._trouble_since.setdefault(PageState.LOBBY, now) < self._waiting_s:
            return None
        return Departed(departure=Departure(reason=reading.reason or StopReason.KICKED, row=reading.row))

    def _in_trouble(self, state: PageState, now: float, seen: str) -> Outcome | None:
        since = self._trouble_since.setdefault(state, now)
        place = place_of(self._page.url)
        if (
            state is PageState.LOADING
            and place != self._place
            and names_no_meeting(self._parse_link, self._page.url)
            # An empty page may be a fault: the call is entered anew, and ended if that page becomes empty as well.
            and not (self._is_first and self._page.url == EMPTY_PAGE)
        ):
            if now - since < (LEFT_S if self.is_urgent else RELOADED_S):
                return None
            return Departed(departure=Departure(reason=StopReason.MEETING_ENDED, row="page.led_away"))
        if not self.is_urgent:
            if now - since < _PATIENCE_S.get(state, LOST_S):
                return None
            return Broken(cause=PAGE_LEFT if state is PageState.LOADING else "connection_lost", seen=seen)
        if place == self._place and state is PageState.PREJOIN:
            is_lasting = now - since >= LEFT_S
        else:
            is_lasting = now - min(self._trouble_since.values()) >= (RELOADED_S if place == self._place else LEFT_S)
        if not is_lasting:
            return None
        return Broken(cause=PAGE_LEFT, seen=f"Another document stands in the page, at {place}, and no call is in it.")

    @property
    def site_reconnects(self) -> bool:
        """Return whether the page says that it is reconnecting."""
        return PageState.RECONNECTING in self._trouble_since

    @property
    def is_urgent(self) -> bool:
        """Return whether the page has another document than the one that was in the call."""
        return self._page.documents != self._documents
