"""Sites whose own channels tell nothing: people and chat are read from panels, of which one may close the other."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from harness.platforms_room import OpenPage
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.bot import Service
from sederunt.model.events import ChatReceived, MeetingEvent, ParticipantLeft, ParticipantSeen
from sederunt.platforms.admission import join
from sederunt.platforms.page_state import PageState
from sederunt.platforms.registry import platform_of
from sederunt.practice.script import CastMember, Script, ScriptedAct, Variant
from sederunt.practice.server import PracticeServer

CAST = (CastMember(name="Ada Lovelace", host=True), CastMember(name="Charles Babbage"))
WAYS: list[tuple[Service, dict[str, Any]]] = [
    (Service("gmeet"), {}),
    (Service("teams"), {}),
    (Service("zoom"), {"panels": "one"}),
    (Service("zoom"), {"panels": "beside"}),
    (Service("zoom"), {"panels": "one", "layout": "gallery", "frame": True}),
]


@pytest.mark.parametrize(("service", "variant"), WAYS, ids=str)
async def test_people_come_write_and_go(
    practice: PracticeServer, open_practice: OpenPage, service: Service, variant: dict[str, Any]
) -> None:
    site = platform_of(service)
    opened = await open_practice(watch=site.watch_plan(), hosts=site.origins)
    script = Script(service=cast(Any, service), cast=CAST, variant=Variant(signals="page", **variant))
    meeting = await practice.open_meeting(script)
    admission = await join(
        site,
        opened.page,
        site.parse_link(meeting.url),
        name="Minutes",
        waiting_room_s=20,
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    assert admission.reading.state is PageState.IN_CALL

    def told() -> list[MeetingEvent]:
        decoder = site.decoder(own_name="Minutes")
        return [event for signal in list(opened.signals) for event in decoder.decode(signal)]

    async def until(holds: Callable[[MeetingEvent], bool]) -> None:
        while not any(holds(event) for event in told()):
            opened.news.clear()
            await opened.news.wait()

    await site.settle(opened.page, roster_heard=False)
    await until(lambda event: isinstance(event, ParticipantSeen) and event.name == "Charles Babbage")
    meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Good morning."))
    meeting.act(ScriptedAct(at_s=0, do="join", who="Mary Somerville"))
    meeting.act(ScriptedAct(at_s=0, do="leave", who="Charles Babbage"))
    await site.settle(opened.page, roster_heard=False)
    await site.send_chat(opened.page, "I take the minutes.")
    meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Thank you."))

    await until(lambda event: isinstance(event, ChatReceived) and event.content == "Thank you.")
    await until(lambda event: isinstance(event, ParticipantLeft))
    events = told()
    names = {event.key: event.name for event in events if isinstance(event, ParticipantSeen)}
    assert sorted(names.values()) == ["Ada Lovelace", "Charles Babbage", "Mary Somerville", "Minutes"]
    assert [names[event.key] for event in events if isinstance(event, ParticipantLeft)] == ["Charles Babbage"]
    written = [(event.username, event.content) for event in events if isinstance(event, ChatReceived)]
    expected = [("Ada Lovelace", "Good morning."), ("Minutes", "I take the minutes."), ("Ada Lovelace", "Thank you.")]
    assert written == expected
