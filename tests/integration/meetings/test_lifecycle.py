"""A bot's life over several pages, with a real database. Browser, site and time are the test's script."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest

from harness.bot_context import NoAccounts, NoListeners
from harness.captured import sound
from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger
from sederunt.browser.page import PAGE_CRASHED, Signal
from sederunt.browser.page_request import PageRequest
from sederunt.claims.claim import Claim, Source, Subject, here, speak
from sederunt.clock import unix_ms
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.ids import new_id
from sederunt.database.live_lines import LiveLineStore
from sederunt.errors import PageCrashed, PageError, PageStuck, Superseded
from sederunt.media.readers import Readers
from sederunt.meetings import milestones
from sederunt.meetings.context import BotContext
from sederunt.meetings.handover import HolderAnswer, Move
from sederunt.meetings.journal import Journal
from sederunt.meetings.lifecycle import attend
from sederunt.meetings.record.spool import PieceSpool
from sederunt.meetings.record.stored_until import heard_until_s
from sederunt.meetings.session import meeting_session, watcher
from sederunt.meetings.session.commands import Commands
from sederunt.model.bot import Authentication, Bot, BotConfig, Service, StopOptions
from sederunt.model.history import Event
from sederunt.model.participant import Participant
from sederunt.model.status import MEETING_FULL, BotStatus, StopReason, Trigger
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.notice_answers import NoticeAnswers
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.targets import FoundControl, Journey
from sederunt.settings import Settings
from sederunt.storage.objects import Objects

pytestmark = pytest.mark.parametrize("address", ["sqlite"], indirect=True)  # what is asked of it, its own tests tell

AWAY = PageError("The page could not open the meeting's address: Page.goto: net::ERR_INTERNET_DISCONNECTED")
STUCK = PageStuck("The page did not answer a question within 5 s.")


def listed(key: str, name: str, *, is_self: bool = False) -> Claim:
    return here(Source.PROTOCOL, [Subject(key=key, name=name, is_self=is_self)], 0)


def speaks(key: str) -> Claim:
    """Somebody speaks, for as long as a test goes."""
    return replace(speak(Source.PROTOCOL, [key], 0), lifetime_ms=2**50)


SELF = listed("b", "Minutes", is_self=True)


class Hurried(FakeClock):
    """Who sleeps by it lets that time pass, and is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []
        self.on_sleep: Callable[[], Any] | None = None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.on_sleep is not None:
            await self.on_sleep()
        self.advance(seconds)


@dataclass
class Shown:
    """What one look at the page finds, and how long it takes."""

    finds: PageState | PageError = PageState.IN_CALL
    takes_s: float = 5.0
    told: Sequence[Claim] = ()  # before it answers
    frames: bool = False  # sound comes meanwhile
    then: Callable[[], Any] | None = None


@dataclass
class Tab:
    """A page: it opens, or not, and is then looked at so many times. One that is looked at once more is gone."""

    looks: Sequence[Shown] = ()
    answers: PageState = PageState.IN_CALL  # to the knock
    cause: str = ""  # … and what it says besides
    shut_for: int = 0  # looks at its door before that
    opens: PageError | None = None
    knocks: Callable[[], Any] | None = None  # what happens while it opens
    backends: list[PageError | None] = field(default_factory=list)  # what comes of each question for another one
    asked_backend: int = 0
    looked: int = 0
    spins: bool = False  # its renderer runs without a pause

    def __post_init__(self) -> None:
        self.said: list[str] = []
        self.gone = asyncio.Event()
        self.gone_by = PAGE_CRASHED
        self.documents = 1
        self.cost = None
        self.url = "https://meet.example/abc"
        self._looks: Iterator[Shown] = iter(self.looks)

    def shows(self, *looks: Shown) -> None:
        self._looks = iter(looks)

    def renderer_cpu_s(self, within_s: float, answered_s: float) -> float:
        return within_s if self.spins else 0.1

    def attach(self, clock: FakeClock, on_frames: Any, on_signal: Any) -> None:
        self._clock, self._on_frames, self._on_signal = clock, on_frames, on_signal

    def hears(self, seconds: float) -> None:
        """Let somebody speak for so long."""
        began_ms = unix_ms(self._clock.now())
        self._clock.advance(seconds)
        frames = sound(0, seconds)
        self._on_frames([replace(frame, at_ms=frame.at_ms - frames[0].at_ms + began_ms) for frame in frames])

    async def goto(self, url: str, *, deadline_s: float = 60) -> None:
        if self.knocks is not None:
            await self.knocks()
        if self.opens is not None:
            raise self.opens

    async def look(self) -> Reading:
        look = next(self._looks, None)
        if look is None:
            self.gone.set()
            raise PageCrashed("The page is gone.")
        self.looked += 1
        self._clock.advance(look.takes_s)
        for event in look.told:
            self._on_signal(Signal(kind="told", at_ms=0, data={"event": event}))
        if look.frames:
            self._on_frames([replace(frame, at_ms=unix_ms(self._clock.now())) for frame in sound(0, 0.1)])
        if look.then is not None:
            await look.then()
        if isinstance(look.finds, PageError):
            raise look.finds
        return Reading(state=look.finds, row="r")

    async def use_backend(self, backend: str) -> None:
        self.asked_backend += 1
        if (fault := self.backends.pop(0) if self.backends else None) is not None:
            raise fault

    async def flush(self, *, deadline_s: float = 2) -> None: ...

    async def close(self) -> None:
        self.gone.set()

    async def capture_state(self) -> dict[str, Any]:
        return {}

    async def screenshot(self) -> bytes:
        return b"png"

    async def storage_state(self) -> dict[str, Any]:
        return {}

    async def text(self) -> str:
        return "text"


class Pool:
    """Gives out the tabs of the script, one after another."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.script: Iterator[Tab] = iter(())
        self.given: list[Tab] = []
        self.states: list[object] = []  # what each was signed in with

    async def open(self, request: PageRequest, *, on_frames: Any, on_signal: Any, on_trouble: Any, now_ms: Any) -> Any:
        tab = next(self.script)
        tab.attach(self._clock, on_frames, on_signal)
        self.given.append(tab)
        self.states.append(request.storage_state)
        return tab


class OneAccount:
    """Meeting accounts of somebody who has one."""

    service, email, password = Service("gmeet"), "minutes@example.org", None
    state: ClassVar[dict[str, Any]] = {"cookies": [{"name": "SID"}]}

    async def open(self, meeting_account_id: UUID, account_id: UUID) -> "OneAccount":
        return self

    async def renew_state(self, meeting_account_id: UUID, account_id: UUID, state: object) -> None: ...


class Hearing:
    noted = ()
    roster_heard = True

    def decode(self, signal: Signal) -> Sequence[Claim]:
        return [signal.data["event"]]


class Site:
    """Lets everybody in at once."""

    name_limit = 60
    origins = ()
    journey = Journey(steps=())

    def parse_link(self, text: str) -> MeetingLink:
        return MeetingLink(service=Service("gmeet"), url=text, meeting_id="abc")

    def watch_plan(self) -> dict[str, Any]:
        return {}

    def decoder(self, own_name: str = "") -> Hearing:
        return Hearing()

    async def survey(self, page: Tab, targets: object = ()) -> tuple[Tab, dict[str, Any]]:
        return page, {}

    def judge(self, snapshot: Tab, *, joined: bool, noted: object = ()) -> Reading:
        if snapshot.shut_for > 0:
            snapshot.shut_for -= 1
            return Reading(state=PageState.PREJOIN, row="door")
        return Reading(state=snapshot.answers, row="answer", cause=snapshot.cause)

    async def read(self, page: Tab, *, joined: bool, noted: object = ()) -> Reading:
        return await page.look()

    async def send_chat(self, page: Tab, text: str) -> None:
        page.said.append(text)

    async def leave(self, page: Tab) -> None: ...

    async def settle(
        self, page: Tab, *, answers: object = None, roster_heard: bool = False, camera: bool = False
    ) -> None: ...


@dataclass
class OldHolder:
    """Who sits in the meeting already, as it answers whoever shall take its place."""

    says: HolderAnswer = HolderAnswer.DONE  # to the question for its place
    is_there: bool = True
    asked: list[str] = field(default_factory=list)
    bots: Bots | None = None
    row: Bot | None = None

    async def ask(self) -> HolderAnswer:
        await asyncio.sleep(0.01)  # the test's clock does not wait
        return HolderAnswer.DONE if self.is_there else HolderAnswer.GONE

    async def leave(self) -> HolderAnswer:
        assert self.bots is not None
        assert self.row is not None
        now = await self.bots.get(self.row.id)
        self.asked.append("in its place" if now.epoch > self.row.epoch else "before")
        return self.says


@dataclass
class Stage:
    bots: Bots
    live_lines: LiveLineStore
    settings: Settings
    objects: Objects
    clock: Hurried
    pool: Pool
    commands: Commands
    bot: Bot
    accounts: Any = field(default_factory=NoAccounts)
    journal: Journal = field(init=False)

    async def play(self, *tabs: Tab | Iterator[Tab], earlier: Sequence[Participant] = ()) -> Bot:
        """Attend by these pages; gives the row as it is once all is done."""
        self.pool.script = (tab for each in tabs for tab in ([each] if isinstance(each, Tab) else each))
        journal = await Journal.claim(
            self.bot.id, "host", bots=self.bots, live_lines=self.live_lines, feed=NoListeners()
        )
        await self.bots.save_participants(self.bot.id, earlier, epoch=journal.bot.epoch)
        self.journal = journal
        await attend(self._context(journal), self.commands)
        return await self.left()

    async def succeed(self, before: "OldHolder", *tabs: Tab) -> Bot:
        """Take the place of a holder, by these pages; gives the row as it is once all is done."""
        self.pool.script = iter(tabs)
        row = await self.bots.claim(self.bot.id, "old")
        before.bots, before.row = self.bots, row
        journal = Journal(row, bots=self.bots, live_lines=self.live_lines, feed=NoListeners())
        await journal.expect_second_self()
        context = self._context(journal)
        move = Move(journal, before, self.clock, claim=lambda: journal.take_over("new"), lease_s=20)
        await attend(context, self.commands, move=move)
        return await self.left()

    async def left(self) -> Bot:
        bot = await self.bots.get(self.bot.id)
        if bot.status is BotStatus.PROCESSING:  # the reason is shown at the end only
            bot = await self.bots.record_transition(bot.id, Trigger.CLOSED) or bot
        return bot

    def _context(self, journal: Journal) -> BotContext:
        return BotContext(
            journal=journal,
            settings=self.settings,
            objects=self.objects,
            pool=self.pool,
            feed=NoListeners(),
            accounts=self.accounts,
            clock=self.clock,
            readers=Readers(Ledger()),
            spools=self.settings.data / "spool",
        )

    async def last_cause(self) -> str:
        found = await self.bots.events(self.bot.id)
        return str(next(event.data["cause"] for event in reversed(found) if event.data.get("cause")))


@pytest.fixture
def clock() -> Hurried:
    return Hurried()


MakeStage = Callable[..., Any]


@pytest.fixture
async def make_stage(
    address: str, clock: Hurried, tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> Any:
    monkeypatch.setattr(watcher, "TICK_S", 0.0)
    monkeypatch.setattr(meeting_session, "DYING_S", 0.0)
    monkeypatch.setattr("sederunt.meetings.lifecycle.platform_of", lambda service: Site())
    async with Database(address, clock=clock) as database:

        async def make(status: BotStatus = BotStatus.RECORDING, **wishes: Any) -> Stage:
            pool, bots = Pool(clock), Bots(database)
            config = BotConfig(
                service=Service("gmeet"),
                meeting_url="https://meet.example/abc",
                bot_name="Minutes",
                transcription_model="none",
                initial_chat_message="Hello",
                stop_options=StopOptions(last_person_detection=2, silence_detection=0),
                **wishes,
            )
            bot = Bot(
                id=new_id(clock.now()),
                account_id=database.default_account_id,
                config=config,
                status=status,
                created_at=clock.now(),
                recording_started_at=clock.now() if status is BotStatus.RECORDING else None,
            )
            await bots.create(bot, job=False)
            lines, settings = LiveLineStore(database), Settings(data=tmp_path)
            return Stage(bots, lines, settings, objects, clock, pool, Commands(), bot)

        yield make


def ended() -> Tab:
    """A page that sits for two minutes and sees the meeting end."""
    return Tab([Shown(takes_s=60), Shown(takes_s=60), Shown(PageState.OVER)])


def for_ever(make: Callable[[], Tab]) -> Iterator[Tab]:
    while True:
        yield make()


# --- pages that break one after another ---------------------------------------------------------------------------


async def test_an_outage_of_minutes_is_outlived_with_growing_pauses(make_stage: MakeStage) -> None:
    stage = await make_stage()
    bot = await stage.play(Tab([Shown(takes_s=100)]), *(Tab(opens=AWAY) for _ in range(9)), ended())
    assert stage.clock.slept == [1, 5, 15, *[30] * 7]
    assert (bot.status, bot.stop_reason) == (BotStatus.FINISHED, StopReason.MEETING_ENDED)
    assert [gap.cause for gap in bot.gaps] == ["page_crashed"], "what threw it out, not what kept it out"
    troubles = [event.data for event in await stage.bots.events(bot.id) if event.event == "page_trouble"]
    assert [told["cause"] for told in troubles] == ["page_crashed", *["connection_lost"] * 9]
    assert troubles[0] == {"cause": "page_crashed", "seen": "The page's renderer ended.", "recovery": "fresh_page"}


async def test_a_bot_comes_back_through_the_door_however_long_it_was_inside(make_stage: MakeStage) -> None:
    stage = await make_stage(BotStatus.JOINING)
    again = ended()
    again.shut_for = 3
    bot = await stage.play(Tab([Shown(takes_s=3000)], shut_for=3), again)
    assert (bot.status, bot.stop_reason) == (BotStatus.FINISHED, StopReason.MEETING_ENDED)
    assert len(stage.pool.given) == 2


@pytest.mark.parametrize(
    ("at", "finds", "waits_s"),
    [
        ("chrome-error://chromewebdata/", PageState.TROUBLE, 4),
        ("https://meet.example/home", PageState.PREJOIN, 4),
        ("https://meet.example/abc?authuser=0", PageState.PREJOIN, 4),  # loaded anew, and asks to be joined again
        ("https://meet.example/abc?authuser=0", PageState.LOADING, 10),  # … or still loads: it may find back by itself
    ],
)
async def test_a_page_in_which_another_document_stands_is_replaced_soon(
    make_stage: MakeStage, at: str, finds: PageState, waits_s: float
) -> None:
    stage = await make_stage()
    left = Tab()

    async def leave() -> None:
        left.documents, left.url = 2, at

    left.shows(Shown(takes_s=70, then=leave), *(Shown(finds, takes_s=2) for _ in range(30)))
    bot = await stage.play(left, ended())
    assert left.looked == 1 + waits_s / 2 + 1
    assert [gap.cause for gap in bot.gaps] == ["page_left"]
    (told,) = [event.data for event in await stage.bots.events(bot.id) if event.event == "page_trouble"]
    assert told["cause"] == "page_left"
    assert at.partition("?")[0] in told["seen"]
    assert "authuser" not in told["seen"]


async def test_an_answer_that_does_not_help_is_reported_during_the_call(
    make_stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def press(site: Site, page: Tab, *, answers: NoticeAnswers, **wishes: bool) -> None:
        control = FoundControl(id="x.consent", handle="#x", label="got it", value="", disabled=False)
        if answers.may_press(control):
            answers.note_press(control)

    monkeypatch.setattr(Site, "settle", press)
    stage = await make_stage()
    notices = [Shown(PageState.DIALOG, takes_s=3) for _ in range(60)]
    bot = await stage.play(Tab([*notices, Shown(PageState.OVER)]))
    events = await stage.bots.events(bot.id)
    told = [(number, event.data) for number, event in enumerate(events) if event.event == "page_trouble"]
    assert [data["cause"] for _, data in told] == ["notice_stays"]
    assert "x.consent" in told[0][1]["seen"]
    assert events[told[0][0] + 1].data["new_status"] == "leaving"


async def test_a_page_that_finds_back_into_the_call_after_a_reload_stays(make_stage: MakeStage) -> None:
    stage = await make_stage()
    tab = Tab()

    async def reload() -> None:
        tab.documents = 2

    loading = [Shown(PageState.LOADING, takes_s=4)] * 2
    tab.shows(Shown(takes_s=70, then=reload), *loading, Shown(), *loading * 5, Shown(takes_s=60), Shown(PageState.OVER))
    bot = await stage.play(tab)
    assert (bot.stop_reason, bot.gaps) == (StopReason.MEETING_ENDED, ())


async def test_a_recording_that_nothing_gets_back_into_is_given_up_after_minutes(make_stage: MakeStage) -> None:
    stage = await make_stage()
    bot = await stage.play(Tab([Shown(takes_s=100)]), for_ever(lambda: Tab(opens=AWAY)))
    assert bot.status is BotStatus.FINISHED
    assert await stage.last_cause() == "connection_lost"
    assert 300 <= sum(stage.clock.slept) < 330


async def test_pages_that_each_sit_for_a_moment_are_not_tried_for_ever(make_stage: MakeStage) -> None:
    stage = await make_stage()
    bot = await stage.play(for_ever(lambda: Tab([Shown(takes_s=40)])))
    assert bot.status is BotStatus.FINISHED
    assert len(stage.pool.given) == 20


@pytest.mark.parametrize(("in_good_order", "cause"), [(True, "planned_move"), (False, "host_lost")])
async def test_the_gap_of_a_bot_that_its_host_gave_back_is_a_planned_move(
    make_stage: MakeStage, in_good_order: bool, cause: str
) -> None:
    stage = await make_stage()
    held = await stage.bots.claim(stage.bot.id, "host-a")
    if in_good_order:
        await stage.bots.release(held.id, held.epoch)
    stage.clock.advance(20)
    bot = await stage.play(ended())
    assert [gap.cause for gap in bot.gaps] == [cause]


async def test_what_was_heard_is_durable_before_a_bot_is_said_to_leave(
    make_stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, kept = await make_stage(BotStatus.JOINING), []

    async def killed_then(journal: Journal, *rest: Any) -> None:
        spool = PieceSpool(stage.settings.data / "spool", stage.bot.id, stage.objects)
        kept.append(await heard_until_s(journal, spool))
        await milestones.depart(journal, *rest)

    monkeypatch.setattr("sederunt.meetings.lifecycle.depart", killed_then)
    await stage.play(Tab([Shown(takes_s=60), Shown(frames=True), Shown(PageState.OVER)]))
    assert kept == [pytest.approx(65.05, abs=0.06)]


async def test_what_is_heard_while_the_database_does_not_answer_is_recorded(
    make_stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that a hanging disk takes after a minute says when the bot was let in, and not when the disk came back."""
    stage, write, tab = await make_stage(BotStatus.JOINING), Bots.record_transition, ended()
    entered: list[datetime] = []

    async def hangs(bots: Bots, bot_id: UUID, trigger: Trigger, **more: Any) -> Bot | None:
        if trigger is Trigger.ADMITTED and not entered:
            entered.append(stage.clock.now())
            tab.hears(60)
            raise sqlite3.OperationalError("disk I/O error")
        return await write(bots, bot_id, trigger, **more)

    monkeypatch.setattr(Bots, "record_transition", hangs)
    bot = await stage.play(tab)
    assert bot.status is BotStatus.FINISHED
    assert bot.recording_started_at == entered[0]
    assert bot.capture["packets"] == 60 * 50
    assert bot.gaps == ()


@pytest.mark.parametrize("refused", [Trigger.ADMITTED, Trigger.ENDED])
async def test_a_bot_keeps_its_seat_while_the_database_takes_nothing(
    make_stage: MakeStage, monkeypatch: pytest.MonkeyPatch, refused: Trigger
) -> None:
    stage, refusals, write = await make_stage(BotStatus.JOINING), iter(range(3)), Bots.record_transition

    async def full(bots: Bots, bot_id: UUID, trigger: Trigger, **more: Any) -> Bot | None:
        if trigger is refused and next(refusals, None) is not None:
            raise sqlite3.OperationalError("database or disk is full")
        return await write(bots, bot_id, trigger, **more)

    monkeypatch.setattr(Bots, "record_transition", full)
    bot = await stage.play(ended())
    assert (bot.status, bot.stop_reason) == (BotStatus.FINISHED, StopReason.MEETING_ENDED)
    assert next(refusals, None) is None
    assert bot.gaps == ()


async def test_a_refusal_without_a_word_why_is_tried_again_after_growing_pauses_and_then_believed(
    make_stage: MakeStage,
) -> None:
    stage = await make_stage(BotStatus.JOINING)
    bot = await stage.play(*(Tab(answers=PageState.BLOCKED) for _ in range(3)))
    assert (bot.status, bot.stop_reason) == (BotStatus.NOT_ADMITTED, StopReason.REQUEST_DENIED)
    first, second = [slept for slept in stage.clock.slept if slept >= 2]
    assert 2 <= first <= 3
    assert 4 <= second <= 6


@pytest.mark.parametrize("wall", [PageState.CHALLENGED, PageState.BLOCKED])
async def test_a_wall_in_front_of_a_recording_is_outlived_as_a_broken_page_is(
    make_stage: MakeStage, wall: PageState
) -> None:
    stage = await make_stage()
    walls = (Tab(answers=wall) for _ in range(4))
    bot = await stage.play(Tab([Shown(takes_s=100)]), walls, ended())
    assert (bot.status, bot.stop_reason, len(bot.gaps)) == (BotStatus.FINISHED, StopReason.MEETING_ENDED, 1)
    assert len(stage.pool.given) == 6


@pytest.mark.parametrize("wall", [PageState.CHALLENGED, PageState.BLOCKED])
async def test_a_wall_that_stays_ends_a_recording_after_minutes_and_is_nobodys_doing(
    make_stage: MakeStage, wall: PageState
) -> None:
    stage = await make_stage()
    bot = await stage.play(Tab([Shown(takes_s=100)]), for_ever(lambda: Tab(answers=wall)))
    assert (bot.status, bot.stop_reason) == (BotStatus.FINISHED, None)
    assert await stage.last_cause() == "page_crashed", "why it was away"
    assert 300 <= sum(stage.clock.slept) < 330


async def test_a_recording_goes_on_once_there_is_room_again_in_a_meeting_that_became_full(
    make_stage: MakeStage,
) -> None:
    stage = await make_stage()
    full = (Tab(answers=PageState.REFUSED, cause=MEETING_FULL) for _ in range(4))
    bot = await stage.play(Tab([Shown(takes_s=100)]), full, ended())
    assert (bot.status, bot.stop_reason, len(bot.gaps)) == (BotStatus.FINISHED, StopReason.MEETING_ENDED, 1)
    assert len(stage.pool.given) == 6


@pytest.mark.parametrize("wall", [PageState.CHALLENGED, PageState.BLOCKED])
async def test_a_guest_who_is_kept_out_comes_back_with_the_account_that_it_was_given(
    make_stage: MakeStage, wall: PageState
) -> None:
    stage = await make_stage(BotStatus.JOINING, authentication=Authentication(meeting_account_id=str(uuid4())))
    stage.accounts = OneAccount()
    bot = await stage.play(Tab(answers=wall), ended())
    assert (bot.status, bot.stop_reason) == (BotStatus.FINISHED, StopReason.MEETING_ENDED)
    assert stage.pool.states == [None, OneAccount.state]


@pytest.mark.parametrize(("status", "said"), [(BotStatus.JOINING, ["Hello"]), (BotStatus.RECORDING, [])])
async def test_a_bot_greets_once_and_not_again_when_it_comes_back(
    make_stage: MakeStage, status: BotStatus, said: list[str]
) -> None:
    stage = await make_stage(status)
    await stage.play(ended())
    assert stage.pool.given[0].said == said


async def test_pages_that_never_come_are_given_up_by_one_deadline(make_stage: MakeStage) -> None:
    stage = await make_stage(BotStatus.JOINING)

    async def time_passes() -> None:
        stage.clock.advance(100)

    bot = await stage.play(for_ever(lambda: Tab(opens=PageStuck("no answer"), knocks=time_passes)))
    assert bot.status is BotStatus.FAILED
    assert len(stage.pool.given) == 2  # the third would begin after the 180 s that a bot has by default


async def test_who_was_challenged_knocks_again_after_seconds_not_at_once(make_stage: MakeStage) -> None:
    stage = await make_stage(BotStatus.JOINING)
    bot = await stage.play(Tab(answers=PageState.CHALLENGED))
    assert (bot.status, bot.attempts) == (BotStatus.BOOTING, 1)
    (pause,) = [slept for slept in stage.clock.slept if slept >= 2]
    assert 2 <= pause <= 3


async def test_on_the_way_in_three_broken_pages_are_believed(make_stage: MakeStage) -> None:
    stage = await make_stage(BotStatus.BOOTING)
    bot = await stage.play(for_ever(lambda: Tab(opens=AWAY)))
    assert bot.status is BotStatus.FAILED
    assert (len(stage.pool.given), stage.clock.slept) == (3, [1, 5])


@pytest.mark.parametrize("by", ["command", "row", "cut-off"])
async def test_an_order_ends_the_waiting_for_another_page(make_stage: MakeStage, by: str) -> None:
    stage = await make_stage()

    async def order() -> None:
        if by == "row":  # whose command was lost is seen when the pause is over
            await stage.bots.request_stop(stage.bot.id)
            return
        (stage.commands.stop if by == "command" else stage.commands.cut_off).set()
        await asyncio.Event().wait()  # the pause itself would not end

    stage.clock.on_sleep = order
    bot = await stage.play(Tab(opens=AWAY))
    assert len(stage.pool.given) == 1
    stopped = (BotStatus.FINISHED, StopReason.MANUALLY_STOPPED)
    assert (bot.status, bot.stop_reason) == ((BotStatus.RECORDING, None) if by == "cut-off" else stopped)


@pytest.mark.parametrize("act", ["get", "save_participants", "record_transition"])
async def test_a_bot_whose_host_is_cut_off_leaves_while_the_database_and_the_storage_do_not_answer(
    make_stage: MakeStage, act: str
) -> None:
    """Another host takes the bot at that moment. What waits for the database waits for 20 s."""
    stage = await make_stage()
    answers = asyncio.Event()

    async def hang(*_: object, **__: object) -> None:
        stage.commands.cut_off.set()
        await answers.wait()
        raise OSError("no route to the database")

    async def cut() -> None:
        for owner, name in ((stage.bots, act), (stage.objects, "put"), (stage.objects, "put_file")):
            patches.setattr(owner, name, hang)

    page = Tab([Shown(), Shown(told=[listed("a", "Ada")], then=cut), *[Shown()] * 2, Shown(PageState.OVER)])
    with pytest.MonkeyPatch.context() as patches:
        playing = asyncio.create_task(stage.play(page))
        try:
            async with asyncio.timeout(30):
                await page.gone.wait()
        finally:
            answers.set()
    bot = await playing
    assert (bot.status, len(stage.pool.given)) == (BotStatus.RECORDING, 1)


async def test_who_was_superseded_while_away_knocks_no_more(make_stage: MakeStage) -> None:
    stage = await make_stage()
    stage.clock.on_sleep = partial(stage.bots.claim, stage.bot.id, "another")
    with pytest.raises(Superseded):
        await stage.play(Tab(opens=AWAY))
    assert (await stage.bots.get(stage.bot.id)).status is BotStatus.RECORDING


async def test_who_was_superseded_writes_nothing_of_an_order_that_came_later(make_stage: MakeStage) -> None:
    stage = await make_stage()

    async def superseded_then_stopped() -> None:
        await stage.bots.claim(stage.bot.id, "another")
        stage.commands.stop.set()
        await asyncio.Event().wait()  # the page opens for ever

    with pytest.raises(Superseded):
        await stage.play(Tab(knocks=superseded_then_stopped))
    bot = await stage.bots.get(stage.bot.id)
    assert (bot.status, bot.epoch) == (BotStatus.RECORDING, 2)


# --- pages that do not answer -------------------------------------------------------------------------------------


async def test_a_look_that_is_not_answered_ends_nothing(make_stage: MakeStage) -> None:
    stage = await make_stage()
    again_and_again = [Shown(STUCK), Shown(STUCK), Shown()] * 5
    bot = await stage.play(Tab([*again_and_again, Shown(PageState.OVER)]))
    assert len(stage.pool.given) == 1
    assert bot.stop_reason is StopReason.MEETING_ENDED


@pytest.mark.parametrize(
    ("frames", "spins", "looks"),
    [(False, False, 3), (True, False, 5), (False, True, 1), (True, True, 2)],
    ids=["silent", "fed", "in a loop", "in a loop, fed"],
)
async def test_a_page_that_answers_no_look_is_replaced_later_while_its_sound_comes_and_sooner_in_a_loop(
    make_stage: MakeStage, frames: bool, spins: bool, looks: int
) -> None:
    stage = await make_stage()
    frozen = Tab([Shown(), *(Shown(STUCK, frames=frames) for _ in range(20))], spins=spins)
    bot = await stage.play(frozen, ended())
    assert frozen.looked - 1 == looks, "15 s, or 25 s; 5 s, or 10 s"
    assert bot.gaps[-1].cause == "page_stuck"
    assert bot.stop_reason is StopReason.MEETING_ENDED


async def test_a_page_too_busy_to_change_its_capture_is_asked_again(make_stage: MakeStage) -> None:
    stage = await make_stage()
    talks = Shown(told=[listed("a", "Ada"), speaks("a")])
    tab = Tab(
        [talks, Shown(), Shown(), Shown(), Shown(), Shown(PageState.OVER)],
        backends=[STUCK, STUCK],
    )
    bot = await stage.play(tab)
    assert (len(stage.pool.given), tab.asked_backend) == (1, 3)
    assert bot.stop_reason is StopReason.MEETING_ENDED


# --- company, after a return --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "listed", "reason"),
    [
        ([], [SELF], StopReason.MEETING_ENDED),
        (["Ada"], [SELF, speaks("g")], StopReason.MEETING_ENDED),
        (["Acme Notetaker", "Minutes"], [SELF], StopReason.MEETING_ENDED),
        (["Ada"], [], StopReason.MEETING_ENDED),
        (["Acme Notetaker", "Ada"], [SELF], StopReason.LAST_PERSON_DETECTED),
    ],
    ids=["nobody came", "somebody speaks", "only bots came", "no list", "people came and went"],
)
async def test_a_bot_that_came_back_is_alone_only_where_people_had_come_and_it_can_see_that_they_are_gone(
    make_stage: MakeStage, clock: Hurried, earlier: list[str], listed: list[Claim], reason: StopReason
) -> None:
    stage = await make_stage()
    known = [Participant(key=name, name=name, avatar=None, first_seen_at=clock.now()) for name in earlier]
    looks = [Shown(told=listed), *(Shown(takes_s=30) for _ in range(20)), Shown(PageState.OVER)]
    bot = await stage.play(Tab(looks), earlier=known)
    assert bot.stop_reason is reason


@pytest.mark.parametrize(
    ("waits", "listed", "reason"),
    [
        (True, [SELF], StopReason.LAST_PERSON_DETECTED),
        (True, [], StopReason.MEETING_ENDED),
        (False, [SELF], StopReason.MEETING_ENDED),
    ],
    ids=["who let it in is gone", "no list tells who is left", "it came first"],
)
async def test_a_bot_that_was_let_in_is_left_alone_though_no_list_ever_had_anybody_else(
    make_stage: MakeStage, clock: Hurried, waits: bool, listed: list[Claim], reason: StopReason
) -> None:
    stage = await make_stage(BotStatus.JOINING)
    looks = [Shown(told=listed), *(Shown(takes_s=30) for _ in range(20)), Shown(PageState.OVER)]
    tab = Tab(looks, answers=PageState.LOBBY if waits else PageState.IN_CALL)

    async def let_in() -> None:
        tab.answers = PageState.IN_CALL

    clock.on_sleep = let_in
    bot = await stage.play(tab)
    assert bot.stop_reason is reason


# --- planned moves ------------------------------------------------------------------------------------------------


def events_of(found: Sequence[Event], kind: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in found if event.event == kind]


async def test_a_holder_leaves_when_the_next_one_sits_and_nothing_is_called_a_gap(make_stage: MakeStage) -> None:
    stage, before = await make_stage(), OldHolder()
    stage.clock.advance(100)
    bot = await stage.succeed(before, ended())
    assert before.asked == ["in its place"]
    assert (bot.status, bot.host, bot.gaps) == (BotStatus.FINISHED, "new", ())
    assert [page.said for page in stage.pool.given] == [[]], "the greeting was said by the page before"
    (move,) = events_of(await stage.bots.events(bot.id), "planned_move")
    assert move["cause"] == "planned_move"


async def test_a_holder_that_froze_is_not_waited_for_and_what_it_took_along_is_a_gap(make_stage: MakeStage) -> None:
    stage, before = await make_stage(), OldHolder(says=HolderAnswer.SILENT)
    stage.clock.advance(100)
    bot = await stage.succeed(before, ended())
    assert before.asked == ["in its place"]
    assert [(gap.start, gap.cause) for gap in bot.gaps] == [(0.0, "host_lost")]


async def test_a_site_that_lets_no_second_one_in_is_left_first(make_stage: MakeStage) -> None:
    stage, before = await make_stage(), OldHolder()
    stage.clock.advance(100)
    bot = await stage.succeed(before, Tab(answers=PageState.REFUSED), ended())
    assert before.asked == ["before"]
    assert [gap.cause for gap in bot.gaps] == ["planned_move"]
    assert events_of(await stage.bots.events(bot.id), "planned_move") == []


async def test_a_holder_that_ends_while_the_next_one_knocks_is_followed_with_a_gap(make_stage: MakeStage) -> None:
    stage, before = await make_stage(), OldHolder(is_there=False)
    stage.clock.advance(100)
    page = ended()
    page.knocks = partial(asyncio.sleep, 0.2)
    bot = await stage.succeed(before, page)
    assert (before.asked, bot.host) == ([], "new")
    assert len(bot.gaps) == 1


async def test_a_bot_that_ended_while_another_holder_knocked_is_left_alone(make_stage: MakeStage) -> None:
    stage, before = await make_stage(), OldHolder()

    async def end_it() -> None:
        assert before.row is not None
        await stage.bots.record_transition(stage.bot.id, Trigger.ENDED, epoch=before.row.epoch)

    page = ended()
    page.knocks = end_it
    with pytest.raises(Superseded):
        await stage.succeed(before, page)
    assert (await stage.bots.get(stage.bot.id)).host == "old"
    assert page.gone.is_set()


async def test_a_holder_whose_place_is_taken_leaves_and_writes_nothing(make_stage: MakeStage) -> None:
    stage = await make_stage()
    answered: list[dict[str, Any]] = []

    async def ask() -> None:
        await stage.journal.expect_second_self()
        await stage.bots.claim(stage.bot.id, "new", after=1)
        order = asyncio.create_task(stage.commands.give_place({"do": "leave"}))
        order.add_done_callback(lambda task: answered.append(task.result()))
        await asyncio.sleep(0)

    bot = await stage.play(Tab([Shown(frames=True), Shown(frames=True, then=ask), Shown()]))
    await asyncio.sleep(0)
    assert answered == [{"ok": True}], "once all that it heard is on its disk"
    assert (bot.status, bot.host, bot.recording_ended_at) == (BotStatus.RECORDING, "new", None)


async def test_whoever_has_lost_the_bot_says_no_word_in_the_chat(make_stage: MakeStage) -> None:
    stage = await make_stage(BotStatus.JOINING)

    async def lose() -> None:
        await stage.bots.claim(stage.bot.id, "other")

    page = Tab([Shown(), Shown()], knocks=lose)
    with pytest.raises(Superseded):
        await stage.play(page)
    assert page.said == []
