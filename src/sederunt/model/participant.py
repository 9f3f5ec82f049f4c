"""A person (or another bot) in the roster of a meeting, and when they spoke."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SpeakingKind(StrEnum):
    STARTED = "started-speaking"
    STOPPED = "stopped-speaking"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeakingEvent:
    type: SpeakingKind
    timestamp: int  # Unix milliseconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Participant:
    key: str  # the site's own id if there is one, else the name
    name: str
    avatar: str | None
    first_seen_at: datetime
    events: tuple[SpeakingEvent, ...] = ()
