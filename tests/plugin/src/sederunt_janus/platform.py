"""Describe Janus' pages: a row of tables, as any site is."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.addresses import refuse_second_address, the_address
from sederunt.platforms.call_controls import CallControls
from sederunt.platforms.evidence import DIALOGS, Phase, Showing
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink
from sederunt.platforms.page_state import PageState
from sederunt.platforms.platform import Platform
from sederunt.platforms.rows import Rows, Targets
from sederunt.platforms.shared import BEFORE_KNOCK, failed_pages, knock_step, name_step
from sederunt.platforms.site import Limits, Site
from sederunt.platforms.targets import Journey, Step
from sederunt_janus.decode import JanusDecoder

NAME = "janus"
HOST = "janus.example.org"
EXPECTED = f"expected https://{HOST}/<page>.html?room=<number>, a page of video or audio rooms"
# Whoever only watches a video room is not asked for a camera.
_PAGES = {"mvideoroomtest": "&subscriber-mode=yes", "videoroomtest": "&subscriber-mode=yes", "audiobridgetest": ""}


def parse_link(text: str) -> MeetingLink:
    """Read the room that a text names. Raises InvalidLink."""
    address = the_address(text, EXPECTED)
    page = re.fullmatch(r"/(m?videoroomtest|audiobridgetest)\.html", address.path)
    room = parse_qs(address.query).get("room", [""])[0]
    if address.netloc != HOST:
        raise ForeignLink(f"The meeting_url is not on {HOST}: {EXPECTED}.")
    if page is None or not re.fullmatch(r"[1-9][0-9]{0,8}", room, re.ASCII):
        raise InvalidLink(f"The meeting_url names no room of {HOST}: {EXPECTED}.")
    refuse_second_address(address, EXPECTED)
    url = f"https://{HOST}{address.path}?room={room}{_PAGES[page.group(1)]}"
    return MeetingLink(service=Service(NAME), url=url, meeting_id=f"{page.group(1)}-{room}")


_SEEN = "2026-11"
_rows = Rows(NAME, seen=_SEEN)
_target = Targets(NAME, seen=_SEEN)
_ROWS = (
    *failed_pages(
        NAME,
        server_s=3.0,
        elsewhere=rf"^https?://(?!{re.escape(HOST)}(?:[:/?#]|$))",
        elsewhere_s=5.0,
        source="own",
        state=PageState.TROUBLE,
    ),
    _rows.signal("kicked", "kicked", "own", phase=Phase.AFTER, state=PageState.REMOVED, reason=StopReason.KICKED),
    _rows.text(
        "destroyed",
        "The room has been destroyed",
        "own",
        within=DIALOGS,
        phase=Phase.AFTER,
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
    ),
    _rows.text(
        "no_room",
        "Apparently room",
        "own",
        within=DIALOGS,
        phase=Phase.BEFORE,
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
    ),
    _rows.text("down", "Lost connection to the server", "own", within=DIALOGS, state=PageState.TROUBLE),
    _rows.selector("in_call", "#videos, #room", "own", showing=Showing.LAID_OUT, state=PageState.IN_CALL),
    _rows.button("prejoin", ("Start", "Join the room"), "own", state=PageState.PREJOIN),
)

PLATFORM: Platform = Site(
    service=Service(NAME),
    title="Janus",
    limits=Limits(name=60, chat=1),
    origins=(f"https://{HOST}",),
    rows=_ROWS,
    never=("#videos", "#list"),
    journey=Journey(
        steps=(
            Step(target=_target("start", "own", names="Start"), states=BEFORE_KNOCK),
            name_step(_target("name", "own", selectors=("#username",))),
            knock_step(_target("knock", "own", selectors=("#register",))),
        )
    ),
    controls=CallControls(leaving=(_target("leave", "own", names="Stop"),)),
    watch={"webSockets": ["ws"], "microphone": "silent"},
    make_decoder=JanusDecoder,
    link_parser=parse_link,
)
