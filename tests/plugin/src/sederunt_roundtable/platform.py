"""Describe Roundtable, a site that tells everything by its page: a row of tables, as any site is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.addresses import refuse_second_address, the_address
from sederunt.platforms.call_controls import CallControls, Camera, ChatPanel
from sederunt.platforms.dom_signals import DomSignals
from sederunt.platforms.evidence import DIALOGS, Phase, Showing
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink
from sederunt.platforms.page_state import PageState
from sederunt.platforms.platform import Platform, Told
from sederunt.platforms.rows import Rows, Targets, phrases
from sederunt.platforms.shared import EndTexts, call_endings, failed_pages, knock_step, lobby_endings, name_step
from sederunt.platforms.sign_in_pages import AccountKind, AccountUse
from sederunt.platforms.site import Limits, Site
from sederunt.platforms.targets import Journey

if TYPE_CHECKING:
    from sederunt.browser.signals import Signal

NAME = "roundtable"
HOST = "roundtable.example.org"
EXPECTED = f"expected https://{HOST}/room/<name>"


def parse_link(text: str) -> MeetingLink:
    """Read the room that a text names. Raises InvalidLink."""
    address = the_address(text, EXPECTED)
    found = re.fullmatch(r"/room/([a-z0-9-]{1,60})/?", address.path)
    if address.netloc != HOST:
        raise ForeignLink(f"The meeting_url is not on {HOST}: {EXPECTED}.")
    if found is None:
        raise InvalidLink(f"The meeting_url names no room of {HOST}: {EXPECTED}.")
    refuse_second_address(address, EXPECTED)
    room = found.group(1)
    return MeetingLink(service=Service(NAME), url=f"https://{HOST}/room/{room}", meeting_id=room)


class RoundtableDecoder:
    """Decode one stay from what the page shows."""

    def __init__(self, own_name: str = "") -> None:
        self._page = DomSignals(own_name)

    @property
    def noted(self) -> Collection[str]:
        return ()

    @property
    def roster_heard(self) -> bool:
        return False

    def decode(self, signal: Signal) -> Sequence[Told]:
        """Read one signal of the page."""
        return self._page.decode(signal)


_LEAVE = "#leave"
_CONTROLS = (f"{NAME}.controls",)
_ENDS = EndTexts(
    removed=(("You were shown out",), "own"),
    ended=(phrases("The table has been cleared | The meeting has ended"), "own"),
    loud=("h1", *DIALOGS),
    controls=_CONTROLS,
)
_SEEN = "2026-11"
_rows = Rows(NAME, seen=_SEEN)
_target = Targets(NAME, seen=_SEEN)
_ROWS = (
    _rows.selector("controls", _LEAVE, "own", showing=Showing.LAID_OUT),
    *failed_pages(
        NAME,
        server_s=3.0,
        elsewhere=rf"^https?://(?!{re.escape(HOST)}(?:[:/?#]|$))",
        elsewhere_s=5.0,
        source="own",
        state=PageState.TROUBLE,
    ),
    _rows.text(
        "unknown",
        "There is no such table",
        "own",
        phase=Phase.BEFORE,
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
    ),
    *lobby_endings(NAME, _ENDS, over_source="own"),
    *call_endings(NAME, _ENDS),
    _rows.text("lobby", "A steward will fetch you", "own", phase=Phase.BEFORE, state=PageState.LOBBY),
    _rows.selector("in_call", _LEAVE, "own", showing=Showing.LAID_OUT, state=PageState.IN_CALL),
    _rows.button("prejoin", "Take a seat", "own", state=PageState.PREJOIN),
)
_CHAT = ChatPanel(
    open=_target("chat_open", "own", selectors=("#chat-toggle",)),
    composer=_target("composer", "own", selectors=("#composer",)),
    send=_target("chat_send", "own", names="Send"),
    messages=(".message",),
)

PLATFORM: Platform = Site(
    service=Service(NAME),
    title="Roundtable",
    limits=Limits(name=40, chat=300),
    origins=(f"https://{HOST}",),
    rows=_ROWS,
    never=(".message", "#people"),
    journey=Journey(
        steps=(
            name_step(_target("name", "own", selectors=('input[name="guest"]',))),
            knock_step(_target("knock", "own", names="Take a seat")),
        )
    ),
    controls=CallControls(
        notices=(),
        camera=Camera(
            on=_target("camera_on", "own", names="Start camera"),
            off=_target("camera_off", "own", names="Stop camera"),
        ),
        chat=_CHAT,
        panels=(),
        leaving=(_target("leave", "own", selectors=(_LEAVE,)),),
    ),
    watch={
        "roster": {"row": "#people li", "name": [".name"], "id": "data-id", "self": ".you"},
        "chat": {"row": ".message", "sender": [".from"], "text": [".said"], "id": "id"},
    },
    make_decoder=RoundtableDecoder,
    link_parser=parse_link,
    accounts=AccountUse(kind=AccountKind.TOKEN, entry_parameter="pass"),
)
