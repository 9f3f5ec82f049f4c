"""How one try at a meeting can go. Small classes that exclude each other, instead of flags."""

from collections.abc import Callable
from dataclasses import dataclass

from sederunt.errors import PageChanged, PageCrashed, PageError, PageStuck
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.status import StopReason
from sederunt.platforms.admission import Admission
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.sign_in import SignInEnd


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
    again: bool = True  # worth another try on a fresh context; a password is not offered again to a site that doubts us


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The page died, froze, or is not the page we know. Worth another try on a fresh one."""

    cause: str  # "page_crashed", "page_stuck", "page_changed", "connection_lost"
    seen: str
    again: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class CutOff:
    """This host lost its bus for so long that others took its bots: leave, write nothing more."""


Outcome = Departed | Refused | SignInNeeded | SignInRejected | Challenged | Broken | CutOff


_REFUSALS: dict[PageState, Callable[[Reading], Outcome | None]] = {
    PageState.IN_CALL: lambda reading: None,
    PageState.REFUSED: lambda reading: Refused(reason=reading.reason, row=reading.row),
    PageState.OVER: lambda reading: Refused(reason=reading.reason or StopReason.CALL_ALREADY_FINISHED, row=reading.row),
    PageState.REMOVED: lambda reading: Refused(reason=StopReason.REQUEST_DENIED, row=reading.row),
    PageState.SIGN_IN_NEEDED: lambda reading: SignInNeeded(row=reading.row),
    PageState.SIGN_IN_REJECTED: lambda reading: SignInRejected(row=reading.row),
    PageState.CHALLENGED: lambda reading: Challenged(row=reading.row),
}


def outcome_of(admission: Admission) -> Outcome | None:
    """How a finished try to join went; None when the bot is inside."""
    reading = admission.reading
    known = _REFUSALS.get(reading.state)
    if known is None:
        return Broken(cause="page_changed", seen=f"{reading.row}: {reading.seen}")
    return known(reading)


def outcome_of_sign_in(end: SignInEnd) -> Outcome | None:
    """How signing in with a password went; None when the site let the account through."""
    reading = end.reading
    match reading.state:
        case PageState.SIGNED_IN:
            return None
        case PageState.CHALLENGED:
            return Challenged(row=reading.row, again=False)
        case PageState.SIGN_IN_NEEDED | PageState.SIGN_IN_REJECTED:
            return _REFUSALS[reading.state](reading)
    return Broken(cause="page_changed", seen=f"{reading.row}: {reading.seen}", again=not end.password_sent)


def broken(error: PageError) -> Broken:
    """What a page's fault means for the try."""
    causes = {PageCrashed: "page_crashed", PageStuck: "page_stuck", PageChanged: "page_changed"}
    otherwise = "connection_lost" if "net::ERR_" in str(error) else "page_changed"  # so browsers name what fails below
    return Broken(cause=causes.get(type(error), otherwise), seen=str(error))
