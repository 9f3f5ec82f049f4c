"""From what a caller sent to what the service keeps: pure, for new bots, changed bots and recordings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sederunt.api.schemas import AuthenticationFields, BotFields, RecordingFields
from sederunt.api.values import MILLISECONDS_FROM
from sederunt.model.bot import Authentication, BotConfig, Service, StopOptions
from sederunt.model.recording import RecordingConfig
from sederunt.transcription.models import find

# Fields that stand in the config under the name and with the value they have in the request.
_PLAIN = (
    "meeting_url",
    "bot_name",
    "transcription_model",
    "transcription_credentials",
    "bot_avatar_url",
    "lang",
    "video",
    "webhook_url",
    "store_recording_for_1_year",
    "profanity_filter",
    "initial_chat_message",
    "realtime_audio",
)


@dataclass(frozen=True, slots=True)
class Start:
    """When a bot is to join."""

    at: datetime | None  # None: now

    @property
    def is_now(self) -> bool:
        return self.at is None


def new_config(fields: BotFields) -> BotConfig:
    """The config of a new bot. `fields` are whole and without fault; an uploaded picture is stored elsewhere."""
    return changed_config(
        BotConfig(service=Service(fields.service), meeting_url="", bot_name="", transcription_model=""),
        fields,
        new=True,
    )


def changed_config(config: BotConfig, fields: BotFields, *, new: bool = False) -> BotConfig:
    """The config with every field that was sent, the others as they are. Stop options are merged key by key."""
    sent = fields.model_fields_set
    changes: dict[str, Any] = {name: getattr(fields, name) for name in _PLAIN if name in sent}
    if "service" in sent:
        changes["service"] = Service(fields.service)
    if "authentication" in sent:
        changes["authentication"] = _authentication(fields.authentication)
    if "custom_vocabulary" in sent:
        changes["custom_vocabulary"] = fields.custom_vocabulary or ()
    for name in ("metadata", "custom_metadata"):  # the second wins
        if name in sent:
            changes["custom_metadata"] = getattr(fields, name) or {}
    if fields.bot_avatar_url and not fields.bot_avatar_file:  # a new picture instead of the one that was uploaded
        changes["bot_avatar_object"] = None
    changes["stop_options"] = _stop_options(config.stop_options, fields)
    return replace(config, **changes)


def start_of(fields: BotFields, now: datetime) -> Start:
    """When to join, from scheduled_start_time: absent, null and past mean now."""
    value = fields.scheduled_start_time
    if value is None:
        return Start(None)
    seconds = value / 1000 if value > MILLISECONDS_FROM else value
    if seconds <= now.timestamp():
        return Start(None)
    return Start(datetime.fromtimestamp(seconds, UTC))


def recording_config(fields: RecordingFields, base: Mapping[str, Any] | None = None) -> RecordingConfig:
    """The config of a recording. `base`: settings to start from where the recording of a bot is taken."""
    sent = fields.model_dump(include=fields.model_fields_set, exclude={"recording_url", "meeting_bot_id"})
    given = {name: value for name, value in sent.items() if value is not None}
    merged = {**(base or {}), **given}
    if base and "transcription_credentials" not in given and not _same_provider(base, merged):
        merged["transcription_credentials"] = None  # it is for the model that was replaced
    merged["custom_vocabulary"] = tuple(merged.get("custom_vocabulary", ()))
    return RecordingConfig(**merged)


def _same_provider(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    rows = [find(settings["transcription_model"]) for settings in (one, other)]
    return len({row.provider if row else None for row in rows}) == 1


def settings_of_bot(config: BotConfig) -> dict[str, Any]:
    """What a recording takes over from the bot whose recording it transcribes anew."""
    return {
        "transcription_model": config.transcription_model,
        "transcription_credentials": config.transcription_credentials,
        "lang": config.lang,
        "profanity_filter": config.profanity_filter,
        "custom_vocabulary": config.custom_vocabulary,
    }


def _stop_options(current: StopOptions, fields: BotFields) -> StopOptions:
    if "stop_options" in fields.model_fields_set and fields.stop_options is None:
        current = StopOptions()
    given = fields.stop_options
    changes = {name: getattr(given, name) for name in given.model_fields_set} if given else {}
    if fields.time_limit is not None:
        changes.setdefault("time_limit", fields.time_limit)
    return replace(current, **changes)


def _authentication(fields: AuthenticationFields | None) -> Authentication | None:
    if fields is None:
        return None
    return Authentication(
        account_id=fields.account_id,
        entry_token=fields.zoom_zak_token,
        always_authenticate=fields.always_authenticate,
    )
