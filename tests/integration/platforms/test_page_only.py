"""Sites whose own channels tell nothing: people and chat are read from panels, of which one may close the other."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from harness.platforms_room import OpenPage, PageTold, heard_by
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.bot import Service
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
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
        limits=EntryLimits(SYSTEM_CLOCK, 20),
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    assert admission.reading.state is PageState.IN_CALL

    def told() -> PageTold:
        return heard_by(site.decoder(own_name="Minutes"), opened.signals)

    async def until(holds: Callable[[PageTold], bool]) -> None:
        while not holds(told()):
            opened.news.clear()
            await opened.news.wait()

    await site.settle(opened.page, roster_heard=False)
    await until(lambda heard: "Charles Babbage" in heard.names)
    meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Good morning."))
    meeting.act(ScriptedAct(at_s=0, do="join", who="Mary Somerville"))
    meeting.act(ScriptedAct(at_s=0, do="leave", who="Charles Babbage"))
    await site.settle(opened.page, roster_heard=False)
    await site.send_chat(opened.page, "I take the minutes.")
    meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Thank you."))

    await until(lambda heard: any(message.content == "Thank you." for message in heard.chat))
    await until(lambda heard: bool(heard.left))
    heard = told()
    assert sorted(heard.names) == ["Ada Lovelace", "Charles Babbage", "Mary Somerville"]
    assert heard.roster.knows_itself
    assert heard.left == ["Charles Babbage"]
    written = [(message.username, message.content) for message in heard.chat]
    expected = [("Ada Lovelace", "Good morning."), ("Minutes", "I take the minutes."), ("Ada Lovelace", "Thank you.")]
    assert written == expected
