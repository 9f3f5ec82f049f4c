"""Define what the service asks of a meeting site: the protocol, and the small records that pass through it.

Nothing here imports the browser at run time: the API parses links with these names and stays light.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from sederunt.errors import RequestError
from sederunt.model.bot import Service
from sederunt.model.events import MeetingEvent
from sederunt.model.status import StopReason

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage
    from sederunt.browser.signals import Signal
    from sederunt.platforms.evidence import PageSnapshot
    from sederunt.platforms.sign_in import SignInPages
    from sederunt.platforms.targets import FoundControl, Journey, Target


class PageState(StrEnum):
    """Where a bot stands with the site, as far as its page tells."""

    LOADING = "loading"  # nothing known yet
    DIALOG = "dialog"  # something must be answered before the way goes on
    PREJOIN = "prejoin"
    LOBBY = "lobby"  # asked to be let in, or waiting for the host
    IN_CALL = "in_call"
    RECONNECTING = "reconnecting"
    REFUSED = "refused"
    SIGN_IN_NEEDED = "sign_in_needed"
    SIGN_IN_REJECTED = "sign_in_rejected"
    SIGNED_IN = "signed_in"  # the site's sign-in pages let the account through
    CHALLENGED = "challenged"  # the site takes us for an unwanted robot
    REMOVED = "removed"
    OVER = "over"
    TROUBLE = "trouble"  # the site's own fault: worth another try on a fresh page


# A try to join is at its end with one of these. TROUBLE and CHALLENGED may be tried again on a fresh context.
ENDINGS: frozenset[PageState] = frozenset(
    {
        PageState.REFUSED,
        PageState.SIGN_IN_NEEDED,
        PageState.SIGN_IN_REJECTED,
        PageState.CHALLENGED,
        PageState.REMOVED,
        PageState.OVER,
        PageState.TROUBLE,
    }
)


class InvalidLink(RequestError):
    """Not an address of a meeting on this service; the sentence says what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingLink:
    """A meeting's address, stripped of wrappers and noise."""

    service: Service
    url: str = field(repr=False)  # what the browser opens
    meeting_id: str  # the site's own code, number or thread
    passcode: str | None = field(default=None, repr=False)  # for a passcode field, where one is shown
    fallback_url: str | None = field(default=None, repr=False)  # another door, tried where the first one stalls


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What one look at the page means."""

    state: PageState
    reason: StopReason | None = None
    row: str = ""  # id of the evidence row that decided
    url: str = ""
    seen: str = ""  # the text, selector, address or signal that matched
    settle_s: float = 0.0  # how long this must be seen before it is believed


class Decoder(Protocol):
    """Turns one page's raw signals into events. Pure but for what it remembers of the roster."""

    def decode(self, signal: Signal) -> Sequence[MeetingEvent]:
        """The events one signal tells, none where it tells nothing. Never raises, whatever the site sends."""

    @property
    def noted(self) -> Collection[str]:
        """Words for evidence rows of kind `signal`, such as "conversation_end:5854"."""

    @property
    def roster_heard(self) -> bool:
        """Whether a signal of the network told of the roster; else the page's own list has to be read."""


class Platform(Protocol):
    """One meeting site. `site.Site` implements this from tables."""

    @property
    def service(self) -> Service: ...

    @property
    def name_limit(self) -> int:
        """The longest name a guest may have, in UTF-16 units (what a field's maxlength counts)."""

    @property
    def chat_limit(self) -> int:
        """The longest chat message, in UTF-16 units; longer ones go in parts."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Origins that get microphone and camera permission."""

    @property
    def journey(self) -> Journey:
        """The steps of the way in, for admission."""

    @property
    def sign_in_pages(self) -> SignInPages | None:
        """Where an account signs in with its password; None where none can."""

    def parse_link(self, text: str) -> MeetingLink:
        """The meeting that a text names. Raises InvalidLink, and nothing else, whatever the text."""

    def with_token(self, link: MeetingLink, token: str) -> MeetingLink:
        """The same meeting, entered as the person that a token of the site belongs to. Pure."""

    def watch_plan(self) -> Mapping[str, Any]:
        """What the in-page scripts shall report: JSON, see browser/."""

    def decoder(self, own_name: str = "") -> Decoder:
        """A fresh decoder for one stay in one meeting. Some rosters have no mark of one's own entry: there the bot is
        known by `own_name`, as it was given to `join`."""

    async def look(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        """What is on the page now, and which of the targets. Raises PageStuck and PageCrashed."""

    def judge(self, look: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        """What a look means by this site's evidence table. Pure."""

    async def read(self, page: MeetingPage, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        """Look and judge; an ending is looked at twice. `noted` is the decoder's word on signals. In the call
        DIALOG means that a notice wants an answer: `settle` gives it. Raises PageStuck and PageCrashed."""

    async def send_chat(self, page: MeetingPage, text: str) -> None:
        """Send to everyone, in parts where the text is longer than the site takes. Raises PageChanged."""

    async def leave(self, page: MeetingPage) -> None:
        """Leave the meeting or its waiting room by the site's own button; harmless where there is none."""

    async def settle(self, page: MeetingPage, *, roster_heard: bool = False, camera: bool = False) -> None:
        """After admission: answer notices, join the sound, switch the bot's camera on or off, and open the roster
        unless the network told of it (`roster_heard`, see Decoder). Safe to repeat."""
