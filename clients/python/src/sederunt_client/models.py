"""What the service answers, as frozen records, and the nested fields that it takes.

Written by scripts/client.py from the OpenAPI document; change the service, then `make docs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict


@dataclass(frozen=True, kw_only=True)
class StopOptions:
    """Stop options, as the service tells of it."""

    time_limit: int
    waiting_room_timeout: int
    last_person_detection: int
    silence_detection: int


@dataclass(frozen=True, kw_only=True)
class SpeakingEvent:
    """Speaking event, as the service tells of it."""

    type: Literal["started-speaking", "stopped-speaking"]
    timestamp: int


@dataclass(frozen=True, kw_only=True)
class Participant:
    """Participant, as the service tells of it."""

    name: str
    avatar: str | None
    first_seen_at: datetime
    events: tuple[SpeakingEvent, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Event:
    """Event, as the service tells of it."""

    event: str
    data: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Gap, as the service tells of it."""

    start: float
    end: float
    cause: str


@dataclass(frozen=True, kw_only=True)
class NameGuess:
    """Name guess, as the service tells of it."""

    name: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Word:
    """Word, as the service tells of it."""

    word: str
    start: float
    end: float
    confidence: float
    speaker: int


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """Utterance, as the service tells of it."""

    start: float
    end: float
    speaker: int
    confidence: float
    transcript: str
    words: tuple[Word, ...]
    lang: str | None = None


@dataclass(frozen=True, kw_only=True)
class TranscriptSegment:
    """Transcript segment, as the service tells of it."""

    start: float
    end: float
    speaker: int
    speaker_name: str | None
    potential_speaker_names: tuple[NameGuess, ...] | None
    confidence: float
    transcript: str
    utterances: tuple[Utterance, ...]


@dataclass(frozen=True, kw_only=True)
class Bot:
    """Bot, as the service tells of it."""

    id: str
    status: Literal[
        "scheduled",
        "booting",
        "joining",
        "recording",
        "processing",
        "transcribing",
        "leaving",
        "finished",
        "not_admitted",
        "bot_detected",
        "auth_required",
        "invalid_credentials",
        "failed",
    ]
    stop_reason: (
        Literal[
            "invalid_meeting_url",
            "waiting_room_timeout",
            "manually_stopped",
            "call_already_finished",
            "request_denied",
            "host_in_another_meeting",
            "meeting_ended",
            "last_person_detected",
            "silence_detection_triggered",
            "kicked",
        ]
        | None
    )
    service: str
    scheduled_for: datetime | None
    stop_options: StopOptions
    bot_name: str
    bot_avatar: str | None
    meeting_url: str
    webhook_url: str | None
    custom_metadata: Mapping[str, str]
    recording_url: str | None
    recording_available_until: datetime | None
    websocket_url: str | None
    websocket_read_only_url: str | None
    websocket_audio_url: str | None
    video: bool
    lang: str | None
    detected_lang: str | None
    transcription_model: str
    transcription_fallback: tuple[str, ...]
    webhook_events: tuple[str, ...]
    participants: tuple[Participant, ...]
    events: tuple[Event, ...]
    profanity_filter: bool
    custom_vocabulary: tuple[str, ...]
    realtime_audio: bool
    created_at: datetime
    finished_at: datetime | None
    time_limit: int | None
    verdict: (
        Literal["healthy", "silent_room", "capture_failed", "engine_failed", "never_admitted", "no_capacity"] | None
    )
    evidence: Mapping[str, str]
    recording_gaps: tuple[Gap, ...]
    capture: Mapping[str, Any]
    transcript: tuple[TranscriptSegment, ...]


@dataclass(frozen=True, kw_only=True)
class BotSummary:
    """Bot summary, as the service tells of it."""

    id: str
    status: Literal[
        "scheduled",
        "booting",
        "joining",
        "recording",
        "processing",
        "transcribing",
        "leaving",
        "finished",
        "not_admitted",
        "bot_detected",
        "auth_required",
        "invalid_credentials",
        "failed",
    ]
    stop_reason: (
        Literal[
            "invalid_meeting_url",
            "waiting_room_timeout",
            "manually_stopped",
            "call_already_finished",
            "request_denied",
            "host_in_another_meeting",
            "meeting_ended",
            "last_person_detected",
            "silence_detection_triggered",
            "kicked",
        ]
        | None
    )
    service: str
    scheduled_for: datetime | None
    stop_options: StopOptions
    bot_name: str
    bot_avatar: str | None
    meeting_url: str
    webhook_url: str | None
    custom_metadata: Mapping[str, str]
    recording_url: str | None
    recording_available_until: datetime | None
    websocket_url: str | None
    websocket_read_only_url: str | None
    websocket_audio_url: str | None
    video: bool
    lang: str | None
    detected_lang: str | None
    transcription_model: str
    transcription_fallback: tuple[str, ...]
    webhook_events: tuple[str, ...]
    profanity_filter: bool
    custom_vocabulary: tuple[str, ...]
    realtime_audio: bool
    created_at: datetime
    finished_at: datetime | None
    time_limit: int | None
    verdict: (
        Literal["healthy", "silent_room", "capture_failed", "engine_failed", "never_admitted", "no_capacity"] | None
    )
    evidence: Mapping[str, str]
    recording_gaps: tuple[Gap, ...]
    capture: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class BotList:
    """One page: bot entries, and where the next page begins."""

    data: tuple[BotSummary, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Message:
    """Message, as the service tells of it."""

    message: str


@dataclass(frozen=True, kw_only=True)
class MeetingEvent:
    """Meeting event, as the service tells of it."""

    type: str
    seq: int
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class MeetingEvents:
    """Meeting events, as the service tells of it."""

    data: tuple[MeetingEvent, ...]
    next: int
    ended: bool


@dataclass(frozen=True, kw_only=True)
class Track:
    """Track, as the service tells of it."""

    source: str
    speaker_name: str | None
    start: float
    end: float
    heard_s: float
    track_url: str


@dataclass(frozen=True, kw_only=True)
class TrackList:
    """One page: track entries, and where the next page begins."""

    data: tuple[Track, ...]


@dataclass(frozen=True, kw_only=True)
class PricingBase:
    """Pricing base, as the service tells of it."""

    rate_per_hour: float


@dataclass(frozen=True, kw_only=True)
class PricingTranscription:
    """Pricing transcription, as the service tells of it."""

    model: str
    rate_per_hour: float
    byok: bool


@dataclass(frozen=True, kw_only=True)
class PricingAddons:
    """Pricing addons, as the service tells of it."""

    name: str
    rate_per_hour: float


@dataclass(frozen=True, kw_only=True)
class PricingTotal:
    """Pricing total, as the service tells of it."""

    rate_per_hour: float
    amount: float | None


@dataclass(frozen=True, kw_only=True)
class Pricing:
    """Pricing, as the service tells of it."""

    id: str
    currency: str
    base: PricingBase
    transcription: PricingTranscription
    addons: tuple[PricingAddons, ...]
    total: PricingTotal


@dataclass(frozen=True, kw_only=True)
class ModelPrice:
    """Model price, as the service tells of it."""

    model: str
    aliases: tuple[str, ...]
    provider: str | None
    realtime: bool
    vendor_model: str | None
    vendor_model_end_of_life: str | None
    rate_per_hour: float
    vendor_usd_per_hour: float | None
    vendor_price_as_of: str | None
    vendor_price_note: str | None


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices, as the service tells of it."""

    currency: str
    base_per_hour: float
    data: tuple[ModelPrice, ...]


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Capacity, as the service tells of it."""

    reserved: int
    available: int


@dataclass(frozen=True, kw_only=True)
class Recording:
    """Recording, as the service tells of it."""

    id: str
    status: Literal["transcribing", "finished", "failed"]
    webhook_url: str | None
    recording_url: str | None
    recording_available_until: datetime | None
    lang: str | None
    detected_lang: str | None
    transcription_model: str
    transcription_fallback: tuple[str, ...]
    events: tuple[Event, ...]
    profanity_filter: bool
    custom_vocabulary: tuple[str, ...]
    created_at: datetime
    finished_at: datetime | None
    transcript: tuple[TranscriptSegment, ...]


@dataclass(frozen=True, kw_only=True)
class RecordingSummary:
    """Recording summary, as the service tells of it."""

    id: str
    status: Literal["transcribing", "finished", "failed"]
    webhook_url: str | None
    recording_url: str | None
    recording_available_until: datetime | None
    lang: str | None
    detected_lang: str | None
    transcription_model: str
    transcription_fallback: tuple[str, ...]
    profanity_filter: bool
    custom_vocabulary: tuple[str, ...]
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class RecordingList:
    """One page: recording entries, and where the next page begins."""

    data: tuple[RecordingSummary, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Correction:
    """Correction, as the service tells of it."""

    id: str
    kind: Literal["word", "speaker", "participant"]
    segment: int | None
    word: int | None
    before: str | None
    after: str
    made_by: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """Transcript, as the service tells of it."""

    id: str
    detected_lang: str | None
    corrections: tuple[Correction, ...]
    transcript: tuple[TranscriptSegment, ...]


@dataclass(frozen=True, kw_only=True)
class ComparedTranscript:
    """Compared transcript, as the service tells of it."""

    resource: Literal["bot", "recording"]
    id: str
    transcription_model: str
    detected_lang: str | None
    words: int
    word_error_rate: float | None


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Passage, as the service tells of it."""

    text: str
    same: bool
    speaker_name: str | None


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """Compared row, as the service tells of it."""

    start: float
    end: float
    first: tuple[Passage, ...]
    second: tuple[Passage, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Comparison, as the service tells of it."""

    first: ComparedTranscript
    second: ComparedTranscript
    reference_words: int | None
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True, kw_only=True)
class ExcerptPart:
    """Excerpt part, as the service tells of it."""

    text: str
    match: bool


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Search result, as the service tells of it."""

    resource: Literal["bot", "recording"]
    id: str
    segment: int
    start: float
    end: float
    speaker_name: str | None
    excerpt: tuple[ExcerptPart, ...]


@dataclass(frozen=True, kw_only=True)
class SearchResults:
    """Search results, as the service tells of it."""

    data: tuple[SearchResult, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class NewKey:
    """New key, as the service tells of it."""

    id: str
    name: str
    prefix: str
    scopes: tuple[Literal["read", "write", "live", "admin"], ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    key: str


@dataclass(frozen=True, kw_only=True)
class Key:
    """Key, as the service tells of it."""

    id: str
    name: str
    prefix: str
    scopes: tuple[Literal["read", "write", "live", "admin"], ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class KeyList:
    """One page: key entries, and where the next page begins."""

    data: tuple[Key, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class NewCredential:
    """New credential, as the service tells of it."""

    id: str
    provider: str
    hint: str
    region: str | None
    organisation: str | None
    created_at: datetime
    verdict: Literal["accepted", "rejected", "unreachable"] | None


@dataclass(frozen=True, kw_only=True)
class Credential:
    """Credential, as the service tells of it."""

    id: str
    provider: str
    hint: str
    region: str | None
    organisation: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class CredentialList:
    """One page: credential entries, and where the next page begins."""

    data: tuple[Credential, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class CheckedCredential:
    """Checked credential, as the service tells of it."""

    verdict: Literal["accepted", "rejected", "unreachable"]
    message: str


@dataclass(frozen=True, kw_only=True)
class MeetingAccount:
    """Meeting account, as the service tells of it."""

    id: str
    service: str
    email: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class MeetingAccountList:
    """One page: meeting account entries, and where the next page begins."""

    data: tuple[MeetingAccount, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class CheckedMeetingAccount:
    """Checked meeting account, as the service tells of it."""

    verdict: Literal["accepted", "rejected", "person_needed", "unclear"]
    message: str
    row: str


@dataclass(frozen=True, kw_only=True)
class SignInWindow:
    """Sign in window, as the service tells of it."""

    id: str
    service: str
    email: str


@dataclass(frozen=True, kw_only=True)
class SignInPicture:
    """Sign in picture, as the service tells of it."""

    number: int | None
    page: int | None
    address: str | None
    jpeg: str | None


@dataclass(frozen=True, kw_only=True)
class KeptSignIn:
    """Kept sign in, as the service tells of it."""

    kept: bool
    meeting_account_id: str | None
    message: str


@dataclass(frozen=True, kw_only=True)
class WebhookSecret:
    """Webhook secret, as the service tells of it."""

    secret: str
    secret_before: str | None
    secret_before_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class WebhookAttempt:
    """Webhook attempt, as the service tells of it."""

    at: datetime
    http_status: int | None
    ms: int
    answer: str


@dataclass(frozen=True, kw_only=True)
class WebhookDelivery:
    """Webhook delivery, as the service tells of it."""

    id: str
    resource: Literal["bot", "recording"]
    resource_id: str
    type: str
    webhook_url: str
    state: Literal["pending", "delivered", "given_up"]
    created_at: datetime
    next_attempt_at: datetime | None
    payload: Mapping[str, Any]
    attempts: tuple[WebhookAttempt, ...]


@dataclass(frozen=True, kw_only=True)
class WebhookDeliveryList:
    """One page: webhook delivery entries, and where the next page begins."""

    data: tuple[WebhookDelivery, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Replayed, as the service tells of it."""

    replayed: int


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """Usage row, as the service tells of it."""

    period: str
    resource: Literal["bot", "recording"]
    key_id: str | None
    key_name: str | None
    transcription_model: str
    count: int
    minutes: int
    amount: float
    currency: str


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Usage, as the service tells of it."""

    from_: str
    to: str
    group: str
    data: tuple[UsageRow, ...]


@dataclass(frozen=True, kw_only=True)
class FeedMeeting:
    """Feed meeting, as the service tells of it."""

    title: str
    starts_at: datetime
    meeting_url: str
    bot_id: str


@dataclass(frozen=True, kw_only=True)
class LeftOutEvent:
    """Left out event, as the service tells of it."""

    title: str
    starts_at: datetime
    reason: str


@dataclass(frozen=True, kw_only=True)
class CalendarFeed:
    """Calendar feed, as the service tells of it."""

    id: str
    name: str
    host: str
    rule: Literal["all", "mine", "keyword"]
    keyword: str | None
    attendee: str | None
    bot_name: str
    transcription_model: str
    lang: str | None
    webhook_url: str | None
    video: bool
    created_at: datetime
    checked_at: datetime | None
    fault: str | None
    time_zone: str | None
    warnings: tuple[str, ...]
    meetings: tuple[FeedMeeting, ...]
    left_out: tuple[LeftOutEvent, ...]


@dataclass(frozen=True, kw_only=True)
class CalendarFeedList:
    """One page: calendar feed entries, and where the next page begins."""

    data: tuple[CalendarFeed, ...]


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """Invitation, as the service tells of it."""

    name: str
    role: Literal["owner", "member", "viewer"]
    sign_in_url: str


@dataclass(frozen=True, kw_only=True)
class Member:
    """Member, as the service tells of it."""

    id: str
    name: str
    email: str | None
    role: Literal["owner", "member", "viewer"]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class MemberList:
    """One page: member entries, and where the next page begins."""

    data: tuple[Member, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Deed:
    """Deed, as the service tells of it."""

    at: datetime
    who: str
    by: Literal["person", "key"]
    action: str
    target: str | None


@dataclass(frozen=True, kw_only=True)
class AuditList:
    """One page: audit entries, and where the next page begins."""

    data: tuple[Deed, ...]
    next_cursor: str | None


class AuthenticationFields(TypedDict, total=False):
    """How to enter a private meeting."""

    account_id: str | None
    """A meeting account kept here, for gmeet and teams."""
    zoom_zak_token: str | None
    """An access token of the site, for zoom."""
    always_authenticate: bool | None
    """Sign in at once instead of trying as a guest first."""


class StopOptionFields(TypedDict, total=False):
    """When the bot leaves by itself, in minutes."""

    time_limit: int | None
    """Longest time the bot may be active."""
    waiting_room_timeout: int | None
    """How long to wait to be let in."""
    last_person_detection: int | None
    """How long to stay when everyone else has left; 0 switches this off."""
    silence_detection: int | None
    """How long to stay when nothing is to be heard; 0 switches this off."""
