"""Shapes of Teams that the usual client does not have, all at once: a socket that carries two calls, a bot that comes
late, a dominant speaker that never changes without anything beside it, tiles keyed by address, and badges."""

import asyncio
from collections.abc import Iterable
from typing import Any

from harness.platforms_room import OpenPage
from sederunt.browser.signals import Signal
from sederunt.clock import SYSTEM_CLOCK
from sederunt.meetings.session.roster import Roster
from sederunt.model.bot import Service
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.page_state import PageState
from sederunt.platforms.registry import platform_of
from sederunt.practice.eventlog import LoggedEvent
from sederunt.practice.quirks import Quirks
from sederunt.practice.script import CastMember, Script, ScriptedAct, Variant
from sederunt.practice.server import PracticeServer

TEAMS = platform_of(Service("teams"))
CAST = ("Ada Lovelace", "Charles Babbage", "Mary Somerville")
TURNS = tuple(
    ScriptedAct(at_s=0.5 + 4 * number, do="say", who=CAST[number % 3], clip="librivox_0880") for number in range(6)
)
SHAPES = Quirks(other_call=True, deltas=True, stuck=True, addresses=True)


async def test_people_of_this_call_alone_are_named_and_nobody_gets_anothers_words(
    practice: PracticeServer, open_practice: OpenPage
) -> None:
    variant = Variant(csrcs=False, marks=False, quirks=SHAPES)
    script = Script(service="teams", cast=tuple(CastMember(name=name) for name in CAST), acts=TURNS, variant=variant)
    opened = await open_practice(watch=TEAMS.watch_plan(), hosts=TEAMS.origins)
    meeting = await practice.open_meeting(script)
    admission = await join(
        TEAMS,
        opened.page,
        TEAMS.parse_link(meeting.url),
        name="Minutes",
        limits=EntryLimits(SYSTEM_CLOCK, 20),
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    assert admission.reading.state is PageState.IN_CALL
    decoder = TEAMS.decoder(own_name="Minutes")
    for number in range(len(TURNS)):
        after = meeting.events.after(kind="fell_silent")
        await meeting.wait_for("fell_silent", after=after[-1].number if after else 0)
        if number == 0:  # by now everybody who was here before is known, by the network alone
            roster = played(decoder, opened.signals, [])
            assert sorted(one.name for one in roster.fold.participants) == sorted(CAST)
            assert decoder.roster_heard
    await TEAMS.settle(opened.page, roster_heard=False)  # its lists say nothing else
    meeting.act(ScriptedAct(at_s=0, do="chat", who="Ada Lovelace", text="Thank you."))
    async with asyncio.timeout(20):
        while not any(signal.kind == "chat" for signal in opened.signals):
            opened.news.clear()
            await opened.news.wait()

    roster = played(TEAMS.decoder(own_name="Minutes"), opened.signals, meeting.events.after())
    assert sorted(one.name for one in roster.fold.participants) == sorted(CAST)
    assert not [one.name for one in roster.fold.participants if one.events], "all words would be one person's"
    written = [signal for signal in opened.signals if signal.kind == "chat"]
    told = [each for signal in written for each in decoder.decode(signal)]
    assert [getattr(each, "username", "") for each in told] == ["Ada Lovelace"]


def played(decoder: Any, signals: Iterable[Signal], events: Iterable[LoggedEvent]) -> Roster:
    """What signals come to, and the sound of the mix as the meeting tells of it."""
    roster = Roster()
    sound = [(event.at_ms, event.kind == "said") for event in events if event.kind in ("said", "fell_silent")]
    moments: list[tuple[int, Any]] = [(signal.at_ms, signal) for signal in list(signals)]
    for at_ms, each in sorted([*moments, *sound], key=lambda moment: moment[0]):
        if isinstance(each, bool):
            roster.heard("track-0", each, at_ms)
        else:
            roster.take(decoder.decode(each))
    return roster
