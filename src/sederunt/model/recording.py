"""A standalone recording: a file to be transcribed without a meeting."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sederunt.model.status import RecordingStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingConfig:
    """Everything a caller can ask of a recording, after validation."""

    transcription_model: str  # the identifier as sent
    transcription_credentials: UUID | None = None
    transcription_fallback: tuple[str, ...] | None = None  # models to use if it fails; None: the operator's setting
    lang: str | None = None
    webhook_url: str | None = None
    store_recording_for_1_year: bool = False
    profanity_filter: bool = False
    custom_vocabulary: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """One recording as it stands in the database."""

    id: UUID
    account_id: UUID
    config: RecordingConfig
    status: RecordingStatus
    created_at: datetime
    source_url: str | None = None  # to be fetched
    source_bot_id: UUID | None = None  # to be copied
    source_recording_id: UUID | None = None  # to be copied; wins over the bot, whose tracks are still used
    recording_object: str | None = None
    recording_available_until: datetime | None = None
    detected_lang: str | None = None
    finished_at: datetime | None = None
    key_id: UUID | None = None  # the API key that asked for it
