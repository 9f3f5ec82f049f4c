"""The bot: its caller's request, and its state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from sederunt.model.status import ENDINGS, MAX_CHALLENGES, BotStatus, StopReason

# The name of a meeting service, as an installed platform gives it (platforms/registry.py).
Service = NewType("Service", str)


WAITING_ROOM_MIN = 10  # the default


@dataclass(frozen=True, kw_only=True, slots=True)
class StopOptions:
    """When a bot leaves by itself, in minutes. 0 switches the two detections off."""

    time_limit: int = 240
    waiting_room_timeout: int = WAITING_ROOM_MIN
    last_person_detection: int = 2
    silence_detection: int = 15


# (least, most) for each stop option, in minutes.
STOP_OPTION_LIMITS: Mapping[str, tuple[int, int]] = {
    "time_limit": (5, 240),
    "waiting_room_timeout": (1, 60),
    "last_person_detection": (0, 60),
    "silence_detection": (0, 60),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Authentication:
    """How to enter a private meeting. The token is sealed before it is stored, and never shown."""

    meeting_account_id: str | None = None  # `account_id` in the API; not the tenant
    entry_token: str | None = field(default=None, repr=False)
    always_authenticate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BotConfig:
    """Everything a caller can ask of a bot, after validation."""

    service: Service
    meeting_url: str
    bot_name: str
    transcription_model: str  # the identifier as sent; an alias stays an alias
    transcription_credentials: UUID | None = None
    transcription_fallback: tuple[str, ...] | None = None  # models to use if it fails; None: the operator's setting
    bot_avatar_url: str | None = None
    bot_avatar_object: str | None = None  # an uploaded picture in storage
    lang: str | None = None
    video: bool = False
    webhook_url: str | None = None
    webhook_events: tuple[str, ...] = ()  # sent by webhook besides every change of status
    store_recording_for_1_year: bool = False
    profanity_filter: bool = False
    initial_chat_message: str | None = None
    stop_options: StopOptions = field(default_factory=StopOptions)
    waiting_time_given: bool = False  # whether the caller set waiting_room_timeout, even to the default
    authentication: Authentication | None = None
    custom_vocabulary: tuple[str, ...] = ()
    realtime_audio: bool = False
    custom_metadata: Mapping[str, str] = field(default_factory=dict)
    host_rules: str | None = None  # for Chromium's resolver: only for a practice meeting of the console


class Verdict(StrEnum):
    """What an ended bot delivered (our extension)."""

    HEALTHY = "healthy"
    SILENT_ROOM = "silent_room"
    CAPTURE_FAILED = "capture_failed"
    ENGINE_FAILED = "engine_failed"
    NEVER_ADMITTED = "never_admitted"
    NO_CAPACITY = "no_capacity"  # no host had room for it in time; independent of the meeting


HOST_LOST = "host_lost"  # its host died, or was cut off
PLANNED_MOVE = "planned_move"  # its host was asked to end, and handed it back
PAGE_LEFT = "page_left"  # its page loaded another document

SHORTEST_GAP_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """A stretch of the recording in which the bot was away. Seconds from the start of the recording."""

    start: float
    end: float
    cause: str  # HOST_LOST, PLANNED_MOVE, PAGE_LEFT, or another fault of the page: "page_crashed", "connection_lost"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bot:
    """One bot as it stands in the database."""

    id: UUID
    account_id: UUID  # the tenant
    config: BotConfig
    status: BotStatus
    created_at: datetime
    stop_reason: StopReason | None = None
    scheduled_for: datetime | None = None
    finished_at: datetime | None = None
    recording_started_at: datetime | None = None  # time zero of the recording and the transcript
    recording_ended_at: datetime | None = None
    recording_object: str | None = None  # the assembled file in storage
    recording_available_until: datetime | None = None
    detected_lang: str | None = None
    verdict: Verdict | None = None
    gaps: tuple[Gap, ...] = ()
    capture: Mapping[str, object] = field(default_factory=dict)  # facts for people: backend, packets, lost, levels
    evidence: Mapping[str, str] = field(default_factory=dict)  # kind ("screenshot", "page_text", …) → object in storage
    host: str | None = None  # its holder
    epoch: int = 0  # incremented at each claim; a write with an older one changes nothing
    attempts: int = 0  # tries to join after a challenge
    stop_requested: bool = False
    delete_requested: bool = False  # requested while leaving
    secret: str = field(default="", repr=False)  # part of its socket addresses
    key_id: UUID | None = None  # the API key that asked for it

    @property
    def is_over(self) -> bool:
        """Return whether the status is final: a bot that was detected as a robot may try again."""
        tries_again = self.attempts < MAX_CHALLENGES and not self.stop_requested
        return self.status in ENDINGS and not (self.status is BotStatus.BOT_DETECTED and tries_again)
