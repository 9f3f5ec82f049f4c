"""How one try at a meeting can go. Small classes that exclude each other, instead of flags."""

from dataclasses import dataclass

from sederunt.meetings.stop_rules import Departure
from sederunt.model.status import StopReason


@dataclass(frozen=True, kw_only=True, slots=True)
class Departed:
    """The bot sat in the meeting and has left it, for this reason."""

    departure: Departure


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Never let in: the meeting's own answer, or the caller's stop before it came."""

    reason: StopReason | None
    row: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInNeeded:
    row: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInRejected:
    row: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenged:
    row: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The page died, froze, or is not the page we know. Worth another try on a fresh one."""

    cause: str  # "page_crashed", "page_stuck", "page_changed", "connection_lost"
    seen: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CutOff:
    """This host lost its bus for so long that others took its bots: leave, write nothing more."""


Outcome = Departed | Refused | SignInNeeded | SignInRejected | Challenged | Broken | CutOff
