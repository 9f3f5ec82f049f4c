"""How one try at a meeting can end, and what each outcome writes to the row. Pure.

Outcomes are mutually exclusive small classes, not flags.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sederunt.errors import PageChanged, PageCrashed, PageError, PageStuck
from sederunt.meetings.session.stop_rules import Departure
from sederunt.model.bot import HOST_LOST, PAGE_LEFT, Verdict
from sederunt.model.status import MEETING_FULL, StopReason, Trigger
from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.platforms.admission import Admission
from sederunt.platforms.page_state import PageState, Reading
from sederunt.platforms.sign_in import SignInEnd


@dataclass(frozen=True, kw_only=True, slots=True)
class Departed:
    """The bot was in the meeting and has left it, for this reason."""

    departure: Departure
    outages: tuple[tuple[float, float], ...] = ()  # (from, to) in seconds of the recording: not written as gaps yet


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """The bot was never let in: the meeting refused, or the caller stopped the bot before an answer."""

    reason: StopReason | None
    row: str
    cause: str = ""  # reported beside the reason
    unexplained: bool = False  # the site does not say why: another try, or an account, may help


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInNeeded:
    """The site admits nobody without an account, or asks for a proof that only a person has."""

    row: str
    url: str = field(default="", repr=False, compare=False)  # the page that says so


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInRejected:
    """The site rejects the account, its password or its session."""

    row: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenged:
    """The site takes the bot for an unwanted robot."""

    row: str
    again: bool = True  # a fresh context may help; a password is not sent again to a site that doubts the bot


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The page died, froze, or is not a page we know. A fresh one may help."""

    cause: str  # "page_crashed", "page_stuck", "page_changed", "connection_lost", or of a PageTrouble
    seen: str
    again: bool = True
    recovery: Recovery = Recovery.FRESH_PAGE


@dataclass(frozen=True, kw_only=True, slots=True)
class CutOff:
    """This host was off the bus for so long that others took its bots: leave, write nothing more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """Another holder has taken this one's place: leave, write nothing more."""


Outcome = Departed | Refused | SignInNeeded | SignInRejected | Challenged | Broken | CutOff | Moved


def known_until_ms(outcome: Outcome | None, *, last_frame_ms: float | None, now_ms: int) -> int:
    """Return until when a closed page is believed: a page that broke knows nothing after its last sound."""
    if not isinstance(outcome, Broken) or last_frame_ms is None:
        return now_ms
    return min(now_ms, round(last_frame_ms))


_REFUSALS: dict[PageState, Callable[[Reading], Outcome | None]] = {
    PageState.IN_CALL: lambda reading: None,
    PageState.REFUSED: lambda reading: Refused(reason=reading.reason, row=reading.row, cause=reading.cause),
    PageState.BLOCKED: lambda reading: Refused(reason=StopReason.REQUEST_DENIED, row=reading.row, unexplained=True),
    PageState.OVER: lambda reading: Refused(reason=reading.reason or StopReason.CALL_ALREADY_FINISHED, row=reading.row),
    PageState.REMOVED: lambda reading: Refused(reason=StopReason.REQUEST_DENIED, row=reading.row),
    PageState.SIGN_IN_NEEDED: lambda reading: SignInNeeded(row=reading.row, url=reading.url),
    PageState.SIGN_IN_REJECTED: lambda reading: SignInRejected(row=reading.row),
    PageState.CHALLENGED: lambda reading: Challenged(row=reading.row),
}


def outcome_of(admission: Admission) -> Outcome | None:
    """Return the outcome of a finished try to join; None when the bot is inside."""
    reading = admission.reading
    refusal = _REFUSALS.get(reading.state)
    if refusal is None:
        return Broken(cause="page_changed", seen=f"{reading.row}: {reading.seen}")
    return refusal(reading)


def outcome_of_sign_in(end: SignInEnd) -> Outcome | None:
    """Return the outcome of signing in with a password; None when the site let the account through."""
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
    """Return what a page's fault means for the try."""
    causes = {PageCrashed: "page_crashed", PageStuck: "page_stuck", PageChanged: "page_changed"}
    otherwise = "connection_lost" if "net::ERR_" in str(error) else "page_changed"  # Chromium's network errors
    return Broken(cause=causes.get(type(error), otherwise), seen=str(error))


def ended_by(trouble: PageTrouble) -> Broken:
    """Return what the end of a page means for the try."""
    return Broken(cause=trouble.cause, seen=trouble.seen, recovery=trouble.recovery)


# --- what is written to the row ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The transition that ends a bot that was never inside."""

    trigger: Trigger
    data: Mapping[str, object]
    reason: StopReason | None = None
    verdict: Verdict = Verdict.NEVER_ADMITTED


def ending_of(outcome: Refused | SignInNeeded | SignInRejected | Broken) -> Ending:
    """Return what to write to the row for a try that ended before the bot was admitted."""
    match outcome:
        case Refused(reason=reason, row=row, cause=cause):
            trigger = Trigger.STOPPED if reason is StopReason.MANUALLY_STOPPED else Trigger.REFUSED
            return Ending(trigger=trigger, reason=reason, data={"evidence": row} | ({"cause": cause} if cause else {}))
        case SignInNeeded(row=row):
            return Ending(trigger=Trigger.SIGN_IN_NEEDED, data={"evidence": row})
        case SignInRejected(row=row):
            return Ending(trigger=Trigger.SIGN_IN_REJECTED, data={"evidence": row})
        case Broken(cause=cause, seen=seen):
            data = {"cause": cause, "seen": seen[:500]}
            return Ending(trigger=Trigger.CRASHED, data=data, verdict=Verdict.ENGINE_FAILED)


# What a refusal means for a bot that was inside before: the meeting went on or ended without it.
_AFTER_LOSS: Mapping[StopReason | None, StopReason] = {
    StopReason.CALL_ALREADY_FINISHED: StopReason.MEETING_ENDED,
    StopReason.INVALID_MEETING_URL: StopReason.MEETING_ENDED,
    StopReason.MANUALLY_STOPPED: StopReason.MANUALLY_STOPPED,
    StopReason.REQUEST_DENIED: StopReason.KICKED,
}


def loss_of(outcome: Outcome, away_cause: str = HOST_LOST) -> tuple[str, StopReason | None]:
    """Return cause and stop reason for a recording that ends because its bot did not get back into the meeting.

    Args:
        away_cause: why the bot had to come back.
    """
    match outcome:
        case Broken(cause=cause):
            return cause, None
        # The site replaced the call by another page, and nobody is there to let the bot in again.
        case Refused(reason=StopReason.WAITING_ROOM_TIMEOUT) if away_cause == PAGE_LEFT:
            return away_cause, StopReason.MEETING_ENDED
        case Refused(unexplained=unexplained, cause=cause) if unexplained or cause == MEETING_FULL:
            return away_cause, None  # no sign that a person refused it
        case Refused(reason=reason):
            return away_cause, _AFTER_LOSS.get(reason)
    return away_cause, None


# --- what is stored as evidence -----------------------------------------------------------------------------------


def is_ordinary(outcome: Outcome) -> bool:
    """Return whether an ending needs no explanation. Long silence needs one: the capture may be deaf."""
    match outcome:
        case Departed(departure=departure):
            return departure.reason not in (StopReason.KICKED, StopReason.SILENCE_DETECTION_TRIGGERED)
        case Refused(reason=StopReason.MANUALLY_STOPPED) | CutOff() | Moved():
            return True
    return False


def decided_by(outcome: Outcome) -> tuple[str, str]:
    """Return the row or cause that decided an outcome, and what was seen."""
    match outcome:
        case Departed(departure=departure):
            return departure.row or "", ""
        case Broken(cause=cause, seen=seen):
            return cause, seen
        case CutOff() | Moved():
            return "", ""
    return outcome.row, ""
