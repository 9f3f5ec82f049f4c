"""What the site shapes have in common for the server: a row of facts and the signals of their own channels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from starlette.requests import Request
from starlette.responses import Response

from sederunt.practice.people import ChatMessage, Occupant, Visitor
from sederunt.practice.script import Script, Variant
from sederunt.practice.sfu import PeerPlan

if TYPE_CHECKING:
    from sederunt.practice.meeting import Meeting


class SiteShape(Protocol):
    """One shape of site. The signal methods are called after the fact, once per bot that is in the call."""

    service: str
    slots: int  # audio slots

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the real host names that lead here."""

    def new_code(self) -> str:
        """Return the code of a new meeting, as the real site makes them."""

    def address(self, code: str, script: Script) -> str:
        """Return the link that people would be sent."""

    def key(self, code: str, number: int, *, is_bot: bool = False) -> str:
        """Return the id of a participant on the page and in the signals."""

    def source(self, number: int) -> int:
        """Return the audio source of a participant: CSRC, source id or node id, whatever the site calls it."""

    def plan(self, variant: Variant) -> PeerPlan:
        """Return what is negotiated with a bot."""

    async def answer(self, request: Request, meetings: "dict[str, Meeting]") -> Response | None:
        """Answer any HTTP request to one of our hosts; None for 404."""

    def greeting(self, meeting: "Meeting", cookies: dict[str, str]) -> dict[str, object]:
        """Return what a page is told on arrival besides the variant; `show` names its first screen.

        Where the meeting's entry is "sign_in", that is the screen of guests: the meeting lets in whoever asks.
        """

    def page_sent(self, meeting: "Meeting", visitor: Visitor, label: str, data: bytes | str) -> None:
        """Take in what the page wrote to a data channel."""

    def roster_changed(self, meeting: "Meeting", visitor: Visitor, changed: Sequence[Occupant]) -> None: ...

    def chat_sent(self, meeting: "Meeting", visitor: Visitor, message: ChatMessage) -> None: ...

    def speaking_changed(self, meeting: "Meeting", visitor: Visitor, csrcs: Sequence[int]) -> None: ...

    def removed(self, meeting: "Meeting", visitor: Visitor) -> None: ...

    def denied(self, meeting: "Meeting", visitor: Visitor) -> None: ...

    def ended(self, meeting: "Meeting", visitor: Visitor) -> None: ...


SIGNALS = frozenset({"roster_changed", "chat_sent", "speaking_changed", "removed", "denied", "ended"})


class _Mute:
    """A site whose own channels carry nothing: only the page tells."""

    def __init__(self, site: SiteShape) -> None:
        self._site = site

    def __getattr__(self, name: str) -> Any:
        return _unsaid if name in SIGNALS else getattr(self._site, name)


def _unsaid(*_told: object) -> None:
    """Ignore a signal that this site does not send."""


def muted(site: SiteShape) -> SiteShape:
    return cast(SiteShape, _Mute(site))
