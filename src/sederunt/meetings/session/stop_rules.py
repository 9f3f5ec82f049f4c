"""When a bot leaves by itself: small rules over roster and time. The first that applies decides.

Order: the time limit is a promise about cost and comes first; company and silence describe the meeting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sederunt.meetings.session.roster import Roster
from sederunt.model.bot import StopOptions
from sederunt.model.status import StopReason, Trigger


@dataclass(frozen=True, kw_only=True, slots=True)
class Departure:
    """Why the bot leaves."""

    trigger: Trigger = Trigger.ENDED
    reason: StopReason | None = None
    cause: str | None = None  # for the event's data if there is no stop reason
    row: str | None = None  # what decided: a row of the evidence table, a signal, an order, or one of these rules


class StopRule(Protocol):
    def check(self, roster: Roster, now_ms: int) -> Departure | None:
        """Return a departure if this rule applies now. `now_ms` is Unix milliseconds."""


class TimeLimit:
    """The longest a bot may stay, counted from its admission."""

    def __init__(self, minutes: int, started_ms: int) -> None:
        self._until_ms = started_ms + minutes * 60_000

    def check(self, roster: Roster, now_ms: int) -> Departure | None:
        return Departure(cause="time_limit", row="rule.time_limit") if now_ms >= self._until_ms else None


class Alone:
    """Everyone else left. Applies only once someone else was here: an early bot waits for people to come."""

    def __init__(self, minutes: int) -> None:
        self._limit_ms = minutes * 60_000
        self._since_ms: int | None = None

    def check(self, roster: Roster, now_ms: int) -> Departure | None:
        if not roster.fold.company_seen or roster.fold.has_company:
            self._since_ms = None
            return None
        if self._since_ms is None:
            self._since_ms = now_ms
        if now_ms - self._since_ms < self._limit_ms:
            return None
        return Departure(reason=StopReason.LAST_PERSON_DETECTED, row="rule.alone")


class Silence:
    """No sound in the captured audio, whatever the page shows."""

    def __init__(self, minutes: int, started_ms: int) -> None:
        self._limit_ms = minutes * 60_000
        self._started_ms = started_ms

    def check(self, roster: Roster, now_ms: int) -> Departure | None:
        if now_ms - max(roster.fold.last_sound_ms or 0, self._started_ms) < self._limit_ms:
            return None
        return Departure(reason=StopReason.SILENCE_DETECTION_TRIGGERED, row="rule.silence")


def rules_for(options: StopOptions, *, started_ms: int, resumed_ms: int) -> tuple[StopRule, ...]:
    """Return the rules of one stay. A bot that came back counts silence from its return, its limit from the start."""
    rules: list[StopRule] = [TimeLimit(options.time_limit, started_ms)]
    if options.last_person_detection:
        rules.append(Alone(options.last_person_detection))
    if options.silence_detection:
        rules.append(Silence(options.silence_detection, resumed_ms))
    return tuple(rules)


def first_departure(rules: Sequence[StopRule], roster: Roster, now_ms: int) -> Departure | None:
    return next((departure for rule in rules if (departure := rule.check(roster, now_ms))), None)
