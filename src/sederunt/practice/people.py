"""Who is in a practice meeting: the cast, the bots, and what was written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sederunt.practice.sfu import Peer, SentPacket

Standing = Literal["arrived", "knocking", "refused", "in_call", "gone"]


@dataclass(slots=True, eq=False)
class Occupant:
    """Someone in the roster: of the cast, or a bot."""

    number: int
    name: str
    key: str
    csrc: int
    host: bool = False
    muted: bool = False
    video: bool = False
    avatar: str | None = None
    present: bool = False
    sharing: bool = False
    removed: bool = False
    bot: str | None = None  # the id of the visitor, for bots


@dataclass(frozen=True, slots=True)
class ChatMessage:
    id: str
    sender: Occupant
    text: str
    at_ms: int


@dataclass(slots=True, eq=False)
class Visitor:
    """One page of one bot."""

    id: str
    tell: Callable[[dict[str, Any]], None]  # a message to the page
    standing: Standing = "arrived"
    name: str = ""
    person: Occupant | None = None
    peer: Peer | None = None
    sent: Sequence[SentPacket] = ()  # to one that has left
    line: Callable[[str], None] | None = None  # a frame on the socket that the site itself would have open
    seen: set[int] = field(default_factory=set)  # sources the page was told of, where a site sends differences
    paused: bool = False  # the network is away
    facts: dict[str, Any] = field(default_factory=dict)  # toggles, user agent, …: what the page told

    def to_data(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "standing": self.standing, **self.facts}
