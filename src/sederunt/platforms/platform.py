"""Define the interface of a meeting site.

Nothing here imports the browser at run time: the API parses links with these names and stays light.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sederunt.claims.claim import Claim
from sederunt.model.bot import Service
from sederunt.model.events import ChatReceived
from sederunt.platforms.evidence import PageSnapshot
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.notice_answers import NoticeAnswers
from sederunt.platforms.page_state import Reading
from sederunt.platforms.sign_in_pages import AccountUse
from sederunt.platforms.targets import FoundControl, Journey, Target

if TYPE_CHECKING:
    from sederunt.browser.page import MeetingPage
    from sederunt.browser.signals import Signal


Told = Claim | ChatReceived


class Decoder(Protocol):
    """Turns one page's raw signals into claims and chat, and judges none of them: every source claims what it shows.

    Pure but for what it must remember to read claims, such as which id belongs to whom.
    """

    def decode(self, signal: Signal) -> Sequence[Told]:
        """Return the claims and chat of one signal, if any. Never raises, whatever the site sends."""

    @property
    def noted(self) -> Collection[str]:
        """Return words for evidence rows of kind `signal`, such as "conversation_end:5854"."""

    @property
    def roster_heard(self) -> bool:
        """Return whether a network signal contained the roster; if not, the page's own list has to be read."""


class Platform(Protocol):
    """One meeting site. `site.Site` implements this from tables."""

    @property
    def service(self) -> Service:
        """Return the name under which the platform is installed; callers send it."""

    @property
    def title(self) -> str:
        """Return the site's name as people write it."""

    @property
    def name_limit(self) -> int:
        """Return the longest name a guest may have, in UTF-16 units (what a field's maxlength counts)."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the origins that get microphone and camera permission; the console recognises links by their hosts."""

    @property
    def journey(self) -> Journey:
        """Return the steps of the way in, for admission."""

    @property
    def accounts(self) -> AccountUse:
        """Return how bots enter with an account."""

    def parse_link(self, text: str) -> MeetingLink:
        """Return the meeting that a text names. Raises InvalidLink, and nothing else, whatever the text."""

    def with_token(self, link: MeetingLink, token: str) -> MeetingLink:
        """Return the meeting's link, to be entered as the owner of a token of the site. Pure."""

    def watch_plan(self) -> Mapping[str, Any]:
        """Return what the in-page scripts are to report, as JSON; see browser/."""

    def decoder(self, own_name: str = "") -> Decoder:
        """Return a fresh decoder for one stay in one meeting. Some rosters do not mark the bot's own entry: there it is
        recognised by `own_name`, the name passed to `join`."""

    async def survey(
        self, page: MeetingPage, targets: Sequence[Target] = ()
    ) -> tuple[PageSnapshot, Mapping[str, FoundControl]]:
        """Return what the page shows now, and the targets it contains. Raises PageStuck and PageCrashed."""

    def judge(self, snapshot: PageSnapshot, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        """Return what a snapshot means by this site's evidence table. Pure."""

    async def read(self, page: MeetingPage, *, joined: bool, noted: Collection[str] = ()) -> Reading:
        """Look and judge; an ending is looked at twice. `noted` are the decoder's words on signals. In the call DIALOG
        means that a notice needs an answer: `settle` gives it. Raises PageStuck and PageCrashed."""

    async def send_chat(self, page: MeetingPage, text: str) -> None:
        """Send to everyone, in parts if the text is longer than the site takes. Raises PageChanged."""

    async def leave(self, page: MeetingPage) -> None:
        """Leave the meeting or its waiting room by the site's own button; harmless if there is none."""

    async def settle(
        self,
        page: MeetingPage,
        *,
        answers: NoticeAnswers | None = None,
        roster_heard: bool = False,
        camera: bool = False,
    ) -> None:
        """Settle in after admission: answer notices, join the sound, switch the bot's camera on or off, and open the
        roster unless the network reported it (`roster_heard`, see Decoder). Safe to repeat; `answers` remembers over
        one stay which answers do not help."""
