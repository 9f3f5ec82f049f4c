"""Zoom's client with a track for each person: the stream's name tells whose it is, and nothing else does."""

import asyncio

from harness.platforms_room import Opened, OpenPage, heard_by
from sederunt.clock import SYSTEM_CLOCK
from sederunt.model.audio import CapturedFrame
from sederunt.model.bot import Service
from sederunt.platforms.admission import join
from sederunt.platforms.limits import EntryLimits
from sederunt.platforms.page_state import PageState
from sederunt.platforms.registry import platform_of
from sederunt.practice import clips
from sederunt.practice.script import CastMember, Script, ScriptedAct, Variant
from sederunt.practice.server import PracticeServer

SAID = {"Ada Lovelace": "librivox_0880", "Charles Babbage": "superlative"}
# Both speak at once, so that no order of turns could tell them apart; nobody is marked, and there is no stage.
SCRIPT = Script(
    service="zoom",
    cast=tuple(CastMember(name=name) for name in ("Mary Somerville", *SAID)),
    acts=tuple(ScriptedAct(at_s=0.5, do="say", who=who, clip=clip) for who, clip in SAID.items()),
    variant=Variant(audio="own_tracks", marks=False, layout="gallery"),
)
ZOOM = platform_of(Service("zoom"))
QUIET_BYTES = 20  # packets of silence are alike in every clip


async def test_each_track_is_known_by_its_streams_name(practice: PracticeServer, open_practice: OpenPage) -> None:
    opened = await open_practice(watch=ZOOM.watch_plan(), hosts=ZOOM.origins)
    meeting = await practice.open_meeting(SCRIPT)
    admission = await join(
        ZOOM,
        opened.page,
        ZOOM.parse_link(meeting.url),
        name="Minutes",
        limits=EntryLimits(SYSTEM_CLOCK, 20),
        clock=SYSTEM_CLOCK,
        on_state=lambda reading: None,
    )
    assert admission.reading.state is PageState.IN_CALL
    await ZOOM.settle(opened.page, roster_heard=True)
    for who in SAID:
        await meeting.wait_for("fell_silent", who=who)
    least = {clip: len(clips.load(clip).frames) // 2 for clip in SAID.values()}  # a busy machine may drop some
    async with asyncio.timeout(20):
        while any(len(heard_of(clip, opened)) < least[clip] for clip in SAID.values()):
            opened.news.clear()
            await opened.news.wait()

    heard = heard_by(ZOOM.decoder(own_name="Minutes"), opened.signals)
    assert not heard.roster.fold.anyone_spoke
    names = {one.key: one.name for one in heard.roster.fold.participants}
    owners = {source: names.get(key) for source, key in heard.roster.fold.sources.items()}
    for who, clip in SAID.items():
        assert {owners[f"track-{frame.track}"] for frame in heard_of(clip, opened)} == {who}


def heard_of(clip: str, opened: Opened) -> list[CapturedFrame]:
    """The captured frames that hold a clip's own packets."""
    packets = {frame.payload for frame in clips.load(clip).frames if len(frame.payload) > QUIET_BYTES}
    return [frame for frame in opened.frames if frame.payload in packets]
