"""Whole ways into practice meetings of the three shapes: in, told apart, seen, said, left, put out."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from harness.platforms_room import Opened, OpenPage, PageTold, heard_by
from sederunt.clock import SYSTEM_CLOCK
from sederunt.errors import PageChanged
from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.platform import Decoder, Platform
from sederunt.platforms.registry import platform_of, services
from sederunt.platforms.site import Site
from sederunt.platforms.text import parts
from sederunt.practice.quirks import Quirks
from sederunt.practice.script import CastMember, Script, Variant
from sederunt.practice.server import PracticeServer

NAME = "Sederunt Guest"
CAST = (CastMember(name="Ada Lovelace", host=True), CastMember(name="Charles Babbage"))


@dataclass
class Stay:
    """One practice meeting and one page that tries to sit in it."""

    platform: Platform
    opened: Opened
    meeting: Any
    decoder: Decoder
    states: list[str] = field(default_factory=list)
    waits: asyncio.Event = field(default_factory=asyncio.Event)  # set in the waiting room

    async def join(self, *, waiting_room_s: float = 20, name: str = NAME, **more: Any) -> Reading:
        link = self.platform.parse_link(self.meeting.url)
        admission = await join(
            self.platform,
            self.opened.page,
            link,
            name=name,
            limits=EntryLimits(SYSTEM_CLOCK, waiting_room_s),
            clock=SYSTEM_CLOCK,
            on_state=self._hear,
            **more,
        )
        return admission.reading

    def _hear(self, reading: Reading) -> None:
        self.states.append(reading.state)
        if reading.state is PageState.LOBBY:
            self.waits.set()

    def heard(self) -> PageTold:
        """What everything told so far means, from the start."""
        return heard_by(self.platform.decoder(own_name=NAME), self.opened.signals)

    async def tells(self, holds: Callable[[PageTold], bool]) -> PageTold:
        """Wait until what was heard says so; TimeoutError prints it."""
        try:
            async with asyncio.timeout(60):
                while not holds(heard := self.heard()):
                    self.opened.news.clear()
                    await self.opened.news.wait()
        except TimeoutError:
            raise TimeoutError(f"the page told only {self.heard()}") from None
        return heard

    async def stands(self, *states: PageState) -> Reading:
        """Wait until the page in the call is read as one of these."""
        async with asyncio.timeout(60):
            reading = await self.platform.read(self.opened.page, joined=True)
            while reading.state not in states:
                reading = await self.platform.read(self.opened.page, joined=True)
        return reading


OpenStay = Callable[..., Any]


@pytest.fixture
def visit(practice: PracticeServer, open_practice: OpenPage) -> OpenStay:
    async def open_it(service: Service, **variant: Any) -> Stay:
        script = Script(service=cast(Any, service), cast=CAST, variant=Variant(**variant))
        platform = platform_of(service)
        opened = await open_practice(watch=platform.watch_plan(), hosts=platform.origins)
        meeting = await practice.open_meeting(script)
        return Stay(platform=platform, opened=opened, meeting=meeting, decoder=platform.decoder(own_name=NAME))

    return open_it


EASY_WAYS: list[tuple[Service, dict[str, Any]]] = [
    (Service("gmeet"), {}),
    (Service("gmeet"), {"media_prompt": "both", "curly": True, "trusted_clicks": True, "offers": "server"}),
    (Service("gmeet"), {"two_step": True, "consent": True, "cookie_banner": True}),
    (Service("gmeet"), {"quirks": Quirks(standing="This video call is being recorded")}),
    (Service("teams"), {}),
    (Service("teams"), {"frame": True, "curly": True}),
    (Service("teams"), {"launcher": False, "devices_modal": "both"}),
    (Service("teams"), {"toolbar": "narrow"}),
    (Service("zoom"), {}),
    (Service("zoom"), {"frame": True, "cookie_banner": True, "curly": True}),
    (Service("zoom"), {"consent": True, "media_prompt": "both"}),
    (Service("zoom"), {"disclaimer": "Accept", "cookie_banner": True}),
    (Service("zoom"), {"disclaimer": "Continue"}),
    (Service("zoom"), {"quirks": Quirks(standing="AI Companion is on")}),
    (Service("zoom"), {"quirks": Quirks(standing="Please wait, the host lost connection")}),
]


@pytest.mark.parametrize(("service", "variant"), EASY_WAYS, ids=str)
async def test_an_open_meeting_is_entered_and_its_people_are_known(
    visit: OpenStay, service: Service, variant: dict[str, Any]
) -> None:
    stay = await visit(service, entry="open", **variant)
    reading = await stay.join()
    assert reading.state is PageState.IN_CALL, (reading, stay.states)
    assert stay.meeting.visitor().name == NAME
    shown = stay.meeting.visitor().facts  # the switches as the site was told of them
    assert (shown.get("microphone"), shown.get("camera")) == (False, False)
    await stay.platform.settle(stay.opened.page)
    heard = await stay.tells(lambda heard: len(heard.names) >= 2 and heard.roster.knows_itself)
    assert heard.names == ["Ada Lovelace", "Charles Babbage"]
    if service is not Service("zoom"):
        heard = await stay.tells(lambda heard: bool(heard.roster.fold.sources))
        keys = {one.key for one in heard.roster.fold.participants} | heard.roster.fold.own_keys
        assert set(heard.roster.fold.sources.values()) <= keys


async def test_sound_is_chosen_where_teams_would_come_without(visit: OpenStay) -> None:
    stay = await visit(Service("teams"), entry="open", quirks=Quirks(soundless=True))
    assert (await stay.join()).state is PageState.IN_CALL
    assert stay.meeting.visitor().facts["sound"] is True


@pytest.mark.parametrize("closable", [False, True])
async def test_sound_is_joined_where_zoom_asks_for_it(visit: OpenStay, closable: bool) -> None:
    """Where the question can be closed it was closed again and again, and the bot sat there and heard nothing."""
    stay = await visit(Service("zoom"), entry="open", quirks=Quirks(closable=closable))
    assert (await stay.join()).state is PageState.IN_CALL
    await stay.platform.settle(stay.opened.page, roster_heard=True)
    async with asyncio.timeout(60):
        await stay.meeting.wait_for("media_connected")


@pytest.mark.parametrize("service", services())
async def test_a_knock_waits_until_somebody_opens(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="knock")
    joining = asyncio.ensure_future(stay.join())
    await stay.meeting.wait_for("knocked")
    await asyncio.wait_for(stay.waits.wait(), 60)
    stay.meeting.admit(stay.meeting.visitor())
    assert (await joining).state is PageState.IN_CALL


REFUSALS: list[tuple[Service, dict[str, Any], PageState, StopReason | None]] = [
    *((service, {"entry": "deny_after"}, PageState.REFUSED, StopReason.REQUEST_DENIED) for service in services()),
    (Service("teams"), {"entry": "ended"}, PageState.REFUSED, StopReason.CALL_ALREADY_FINISHED),
    (Service("gmeet"), {"entry": "sign_in"}, PageState.SIGN_IN_NEEDED, None),
    (Service("teams"), {"entry": "captcha"}, PageState.CHALLENGED, None),
    (Service("teams"), {"entry": "invalid"}, PageState.REFUSED, StopReason.INVALID_MEETING_URL),
    (Service("gmeet"), {"entry": "server_timeout"}, PageState.REFUSED, StopReason.WAITING_ROOM_TIMEOUT),
    (Service("gmeet"), {"entry": "blocked"}, PageState.CHALLENGED, None),
    (Service("gmeet"), {"entry": "blocked", "redirect_s": 0.1}, PageState.CHALLENGED, None),
    (Service("zoom"), {"entry": "blocked"}, PageState.CHALLENGED, None),
    (Service("teams"), {"entry": "problem"}, PageState.TROUBLE, None),
    (Service("zoom"), {"entry": "locked"}, PageState.REFUSED, StopReason.REQUEST_DENIED),
    (Service("zoom"), {"entry": "host_elsewhere"}, PageState.REFUSED, StopReason.HOST_IN_ANOTHER_MEETING),
    (Service("zoom"), {"passcode": "864210"}, PageState.REFUSED, StopReason.INVALID_MEETING_URL),
]


@pytest.mark.parametrize(("service", "variant", "state", "reason"), REFUSALS, ids=str)
async def test_who_is_not_let_in_knows_why(
    visit: OpenStay, service: Service, variant: dict[str, Any], state: PageState, reason: StopReason | None
) -> None:
    stay = await visit(service, **{"entry": "open", "after_s": 0.2, **variant})
    reading = await stay.join()
    assert (reading.state, reading.reason) == (state, reason), (reading, stay.states)


async def test_meet_is_asked_again_when_it_has_ended_a_knock_itself(visit: OpenStay) -> None:
    stay = await visit(Service("gmeet"), quirks=Quirks(unanswered=1), after_s=0.5)
    assert isinstance(stay.platform, Site)
    journey = stay.platform.journey
    stay.platform = replace(stay.platform, journey=replace(journey, ask_again=dict.fromkeys(journey.ask_again, 0.2)))
    assert (await stay.join(waiting_room_s=120)).state is PageState.IN_CALL, stay.states
    assert len(stay.meeting.events.after(kind="knocked")) == 2
    assert [event.data["screen"] for event in stay.meeting.events.after(kind="denied")] == ["nobody_answered"]


@pytest.mark.parametrize("signals", ["network", "page"])
async def test_who_was_removed_from_a_meet_for_good_knows_it_then_and_at_the_door(
    visit: OpenStay, signals: str
) -> None:
    stay = await visit(Service("gmeet"), entry="knock", signals=signals, quirks=Quirks(barring=True))
    joining = asyncio.ensure_future(stay.join())
    await asyncio.wait_for(stay.waits.wait(), 60)
    stay.meeting.admit(stay.meeting.visitor())
    assert (await joining).state is PageState.IN_CALL
    stay.meeting.kick(stay.meeting.visitor())
    assert (await stay.stands(PageState.REMOVED, PageState.OVER)).reason is StopReason.KICKED
    reading = await stay.join()
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED), (reading, stay.states)


@pytest.mark.parametrize("service", services())
async def test_a_full_meeting_is_refused_for_want_of_room(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="full")
    reading = await stay.join()
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED), (reading, stay.states)
    assert reading.cause == "meeting_full"


@pytest.mark.parametrize("service", services())
async def test_the_waiting_room_is_left_at_our_own_limit(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="knock")
    reading = await stay.join(waiting_room_s=1)
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.WAITING_ROOM_TIMEOUT)
    await stay.meeting.wait_for("left")


async def test_who_is_put_out_of_teams_lobby_was_refused_whatever_the_page_says(visit: OpenStay) -> None:
    words = {"You've been removed from this meeting": "You left the meeting"}
    stay = await visit(Service("teams"), entry="knock", words=words)

    def noted() -> Collection[str]:
        decoder = platform_of(Service("teams")).decoder(own_name=NAME)
        for signal in list(stay.opened.signals):
            decoder.decode(signal)
        return decoder.noted

    joining = asyncio.ensure_future(stay.join(noted=noted))
    await asyncio.wait_for(stay.waits.wait(), 60)
    stay.meeting.kick(stay.meeting.visitor())
    reading = await joining
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED), reading
    assert reading.row == "teams.signal.removed_from_lobby"


@pytest.mark.parametrize("service", services())
async def test_messages_reach_everyone_in_parts_and_come_back_once(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="open")
    await stay.join()
    await stay.platform.settle(stay.opened.page, roster_heard=True)
    long = " ".join(f"word{number}" for number in range(120 if service is Service("gmeet") else 200))
    count = 1 + len(parts(long, stay.platform.limits.chat))
    await stay.platform.send_chat(stay.opened.page, "Good morning 👋 all\nGood\n\nall")
    await stay.platform.send_chat(stay.opened.page, long)
    heard = await stay.tells(lambda heard: len(heard.chat) >= count)
    said = [message.content for message in heard.chat]
    assert said[0] == "Good morning 👋 all\nGood\n\nall"
    assert " ".join(said[1:]) == long
    assert len(said) == count
    assert {message.username for message in heard.chat} == {NAME}


@pytest.mark.parametrize("service", services())
async def test_a_meeting_without_chat_says_so(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="open", chat=False)
    await stay.join()
    with pytest.raises(PageChanged):
        await stay.platform.send_chat(stay.opened.page, "Hello?")


@pytest.mark.parametrize("service", services())
async def test_the_call_is_left_by_its_own_button(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="open")
    await stay.join()
    await stay.platform.leave(stay.opened.page)
    await stay.meeting.wait_for("left")


@pytest.mark.parametrize("service", services())
async def test_the_end_of_the_call_is_told_from_a_removal(visit: OpenStay, service: Service) -> None:
    ended = await visit(service, entry="open")
    await ended.join()
    ended.meeting.end()
    assert (await ended.stands(PageState.OVER)).reason is StopReason.MEETING_ENDED
    kicked = await visit(service, entry="open")
    await kicked.join()
    kicked.meeting.kick(kicked.meeting.visitor())
    assert (await kicked.stands(PageState.REMOVED, PageState.OVER)).reason is StopReason.KICKED


@pytest.mark.parametrize("service", services())
async def test_an_ending_in_the_chat_ends_nothing(visit: OpenStay, service: Service) -> None:
    stay = await visit(service, entry="open")
    await stay.join()
    await stay.platform.settle(stay.opened.page, roster_heard=True)
    text = "You have been removed from this meeting. The meeting has ended"
    await stay.platform.send_chat(stay.opened.page, text)
    assert (await stay.platform.read(stay.opened.page, joined=True)).state is PageState.IN_CALL
