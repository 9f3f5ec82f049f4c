"""The fields that callers may send, and their conversion to the service's configuration.

Unknown fields are ignored; null means "not given" where it is allowed. A PATCH changes the fields in
`model_fields_set`, which are those that were sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as config_fields
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sederunt.api.schemas import values as v
from sederunt.model.bot import STOP_OPTION_LIMITS, Authentication, BotConfig, Service, StopOptions
from sederunt.model.history import STATUS_UPDATE, TOLD_WHEN_ASKED
from sederunt.model.recording import RecordingConfig
from sederunt.platforms.registry import services, services_taking
from sederunt.platforms.sign_in_pages import AccountKind
from sederunt.transcription.model_options import option_faults
from sederunt.transcription.models import batch_models, bot_models, documented, find, recording_models

MOST_FALLBACKS = 4


# Fields whose form in the config differs from that in the request; `changed_config` has a line for each.
CONVERTED = frozenset(
    {"service", "authentication", "webhook_events", "custom_vocabulary", "custom_metadata", "stop_options"}
)
_CONFIG_FIELDS = frozenset(field.name for field in config_fields(BotConfig))

_BotModel = Annotated[str, *v.word(bot_models(), documented(bot_models()))]
_RecordingModel = Annotated[str, *v.word(recording_models(), documented(recording_models()))]
_BATCH = batch_models(bot_models())
_BotFallback = Annotated[tuple[str, ...], *v.words(_BATCH, MOST_FALLBACKS, documented(_BATCH))]
_RecordingFallback = Annotated[
    tuple[str, ...], *v.words(recording_models(), MOST_FALLBACKS, documented(recording_models()))
]
# Changes of status are always reported, but are accepted in the list too.
_WebhookEvents = Annotated[tuple[str, ...], *v.words((STATUS_UPDATE, *TOLD_WHEN_ASKED), 1 + len(TOLD_WHEN_ASKED))]
_FALLBACK = "Models that transcribe, in this order, where the vendor of transcription_model fails for good."
_Service = Annotated[str, *v.word(services())]
_ACCOUNT = f"A meeting account kept here, for {' and '.join(services_taking(AccountKind.SESSION))}."
_TOKEN = f"An access token of the site, for {' and '.join(services_taking(AccountKind.TOKEN))}."
_Name = Annotated[str, *v.text(1000)]
_Text = Annotated[str, *v.text()]
_Secret = Annotated[str, *v.text(4096)]


class Body(BaseModel):
    """Frozen, unknown fields ignored. A flag or number that is null was not sent: clients write null for what they
    leave out. Every field has a default; `REQUIRED` names those that have to be sent all the same.
    """

    REQUIRED: ClassVar[Sequence[str]] = ()
    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def what_counts(cls, body: Mapping[str, object]) -> Mapping[str, object]:
        """Return the entries of a body that count. `read` calls this before validation: a faulty field still wins."""
        return body

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, body: object) -> object:
        if not isinstance(body, Mapping):
            return body
        fields = cls.model_fields
        return {
            name: value
            for name, value in body.items()
            if not (value is None and name in fields and fields[name].annotation in (bool, int))
        }


class StopOptionFields(Body):
    """When the bot leaves by itself, in minutes."""

    time_limit: Annotated[int, *v.integer_or_null(*STOP_OPTION_LIMITS["time_limit"])] = Field(
        240, description="Longest time the bot may be active."
    )
    waiting_room_timeout: Annotated[int, *v.integer_or_null(*STOP_OPTION_LIMITS["waiting_room_timeout"])] = Field(
        10, description="How long to wait to be let in."
    )
    last_person_detection: Annotated[int, *v.integer_or_null(*STOP_OPTION_LIMITS["last_person_detection"])] = Field(
        2, description="How long to stay when everyone else has left; 0 switches this off."
    )
    silence_detection: Annotated[int, *v.integer_or_null(*STOP_OPTION_LIMITS["silence_detection"])] = Field(
        15, description="How long to stay when nothing is to be heard; 0 switches this off."
    )


class AuthenticationFields(Body):
    """How to enter a private meeting."""

    account_id: _Secret | None = Field(None, description=_ACCOUNT)
    zoom_zak_token: _Secret | None = Field(None, description=_TOKEN)
    always_authenticate: v.Flag = Field(False, description="Sign in at once instead of trying as a guest first.")


class BotFields(Body):
    """The configuration of a bot."""

    REQUIRED = ("transcription_model", "service", "meeting_url", "bot_name")

    transcription_model: _BotModel = Field("none", description="What transcribes; `none` records only.")
    transcription_credentials: v.Id | None = Field(None, description="A credential of yours for the model's provider.")
    transcription_fallback: _BotFallback | None = Field(None, description=_FALLBACK)
    service: _Service = Field(services()[0], description="Where the meeting is held.")
    meeting_url: v.MeetingUrl = Field("", description="The meeting to join; must be one of `service`.")
    bot_name: _Name = Field("", description="The bot's name in the meeting, cut where the service allows less.")
    bot_avatar_file: v.Picture = Field(
        None, description="PNG, JPEG or WebP in base64, with or without a data URI, up to 5 MB. {} counts as absent."
    )
    bot_avatar_url: v.Url | None = Field(None, description="A picture; ignored when bot_avatar_file is given.")
    lang: v.Language | None = Field(None, description="Spoken language: a tag such as `en`, or `multi`, or `auto`.")
    video: v.Flag = Field(False, description="Record video too.")
    webhook_url: v.Url | None = Field(None, description="Receives every change of status.")
    webhook_events: _WebhookEvents | None = Field(None, description="What webhook_url receives besides.")
    store_recording_for_1_year: v.Flag = Field(False, description="Keep the recording 1 year instead of 1 week.")
    scheduled_start_time: v.Moment | None = Field(
        None, description="When to join: Unix seconds, or milliseconds above 10^11. Past or null: now."
    )
    profanity_filter: v.Flag = Field(False, description="Mask profanity in the transcript.")
    initial_chat_message: _Text | None = Field(None, description="Posted to the meeting's chat on joining.")
    stop_options: StopOptionFields | None = Field(None, description="When the bot leaves by itself.")
    authentication: AuthenticationFields | None = Field(None, description="How to enter a private meeting.")
    custom_vocabulary: v.Vocabulary | None = Field(None, description="Words and phrases to expect.")
    realtime_audio: v.Flag = Field(False, description="Open the realtime sockets for a model that is not realtime.")
    time_limit: Annotated[int, *v.integer(*STOP_OPTION_LIMITS["time_limit"])] | None = Field(
        None, json_schema_extra={"deprecated": True}, description="Use stop_options.time_limit."
    )
    custom_metadata: v.Metadata | None = Field(None, description="Yours; comes back with the bot and its webhooks.")
    metadata: v.Metadata | None = Field(None, description="Another name of custom_metadata, which wins.")

    @classmethod
    def what_counts(cls, body: Mapping[str, object]) -> Mapping[str, object]:
        """Drop fields over which another field wins, whatever its value, and a picture of {}, which a client's file
        object becomes in JSON: it counts as not sent, so that a PATCH keeps the picture.
        """
        is_dropped = {
            "bot_avatar_file": body.get("bot_avatar_file") == {},
            "bot_avatar_url": bool(body.get("bot_avatar_file")),
            "metadata": isinstance(body.get("custom_metadata"), Mapping),
        }
        return {name: value for name, value in body.items() if not is_dropped.get(name)}


class AvatarFields(Body):
    """Another picture for the bot's camera."""

    REQUIRED = ("avatar_url",)

    avatar_url: v.Url = Field("", description="Where it is: PNG, JPEG or WebP.")


class ChatFields(Body):
    """A message for the meeting's chat."""

    REQUIRED = ("message",)

    message: _Text = Field("", description="What to post.")


class CapacityFields(Body):
    """Bots booked ahead."""

    REQUIRED = ("count",)

    count: Annotated[int, *v.integer(0, 1_000_000)] = Field(0, description="How many bots to book ahead.")


class RecordingFields(Body):
    """A recording to transcribe: exactly one of recording_file, recording_url, meeting_bot_id and recording_id."""

    transcription_model: _RecordingModel | None = Field(
        None, description="What transcribes. Required unless meeting_bot_id or recording_id is given."
    )
    recording_url: v.Url | None = Field(None, description="Where we fetch the recording.")
    meeting_bot_id: v.Id | None = Field(None, description="A bot whose recording and settings to take.")
    recording_id: v.Id | None = Field(None, description="A recording whose file and settings to take.")
    lang: v.Language | None = Field(None, description="Spoken language: a tag such as `en`, or `multi`, or `auto`.")
    webhook_url: v.Url | None = Field(None, description="Receives every change of status.")
    store_recording_for_1_year: v.Flag = Field(False, description="Keep the recording 1 year instead of 1 day.")
    profanity_filter: v.Flag = Field(False, description="Mask profanity in the transcript.")
    custom_vocabulary: v.Vocabulary | None = Field(None, description="Words and phrases to expect.")
    transcription_credentials: v.Id | None = Field(None, description="A credential of yours for the model's provider.")
    transcription_fallback: _RecordingFallback | None = Field(None, description=_FALLBACK)


@dataclass(frozen=True, slots=True)
class Start:
    """When a bot is to join."""

    at: datetime | None  # None: now

    @property
    def is_now(self) -> bool:
        return self.at is None


def new_config(fields: BotFields) -> BotConfig:
    """Return the config of a new bot. `fields` are complete and valid; an uploaded picture is stored elsewhere."""
    return changed_config(
        BotConfig(service=Service(fields.service), meeting_url="", bot_name="", transcription_model=""),
        fields,
        new=True,
    )


def changed_config(config: BotConfig, fields: BotFields, *, new: bool = False) -> BotConfig:
    """Return the config with the fields that were sent changed. Stop options are merged key by key."""
    sent_names = fields.model_fields_set
    changes: dict[str, Any] = {name: getattr(fields, name) for name in sent_names & _CONFIG_FIELDS - CONVERTED}
    if "service" in sent_names:
        changes["service"] = Service(fields.service)
    if "authentication" in sent_names:
        changes["authentication"] = _authentication(fields.authentication)
    if "webhook_events" in sent_names:
        changes["webhook_events"] = fields.webhook_events or ()
    if "custom_vocabulary" in sent_names:
        changes["custom_vocabulary"] = fields.custom_vocabulary or ()
    for name in ("metadata", "custom_metadata"):  # the second wins, unless it is null
        if name in sent_names and (getattr(fields, name) is not None or "custom_metadata" not in changes):
            changes["custom_metadata"] = getattr(fields, name) or {}
    if fields.bot_avatar_url and not fields.bot_avatar_file:  # it replaces the uploaded picture
        changes["bot_avatar_object"] = None
    changes["stop_options"] = _stop_options(config.stop_options, fields)
    if "stop_options" in sent_names:
        options = fields.stop_options
        changes["waiting_time_given"] = options is not None and (
            config.waiting_time_given or "waiting_room_timeout" in options.model_fields_set
        )
    return replace(config, **changes)


def start_of(fields: BotFields, now: datetime) -> Start:
    """Return the start by scheduled_start_time: absent, null and past mean now."""
    value = fields.scheduled_start_time
    if value is None:
        return Start(None)
    seconds = value / 1000 if value > v.MILLISECONDS_FROM else value
    if seconds <= now.timestamp():
        return Start(None)
    return Start(datetime.fromtimestamp(seconds, UTC))


def recording_config(fields: RecordingFields, base: Mapping[str, Any] | None = None) -> RecordingConfig:
    """Return the config of a recording. `base`: the settings of the source, if one is transcribed again."""
    values = fields.model_dump(
        include=fields.model_fields_set, exclude={"recording_url", "meeting_bot_id", "recording_id"}
    )
    settings = {name: value for name, value in values.items() if value is not None}
    all_settings = {**(base or {}), **settings}
    if base and "transcription_credentials" not in settings and not _same_provider(base, all_settings):
        all_settings["transcription_credentials"] = None  # it belongs to the provider of the replaced model
    # Inherited wishes for another model.
    for name in _beyond(all_settings["transcription_model"], all_settings) - settings.keys():
        all_settings[name] = None
    if "transcription_fallback" not in settings and all_settings.get("transcription_fallback"):
        usable_models = batch_models(all_settings["transcription_fallback"])
        all_settings["transcription_fallback"] = tuple(
            name
            for name in usable_models
            if name != all_settings["transcription_model"] and not _beyond(name, all_settings)
        )
    all_settings["custom_vocabulary"] = tuple(all_settings.get("custom_vocabulary") or ())
    return RecordingConfig(**all_settings)


def _beyond(model: str, wishes: Mapping[str, Any]) -> set[str]:
    """Return the wishes that a model cannot meet."""
    row = find(model)
    if row is None:
        return set()
    vocabulary = wishes.get("custom_vocabulary") or ()
    return set(option_faults(row, "", lang=wishes.get("lang"), vocabulary=vocabulary))


def _same_provider(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    rows = [find(settings["transcription_model"]) for settings in (one, other)]
    return len({row.provider if row else None for row in rows}) == 1


def settings_of_source(config: BotConfig | RecordingConfig) -> dict[str, Any]:
    """Return the settings that a recording inherits from the bot or recording that it transcribes again."""
    return {
        "transcription_model": config.transcription_model,
        "transcription_credentials": config.transcription_credentials,
        "transcription_fallback": config.transcription_fallback,
        "lang": config.lang,
        "profanity_filter": config.profanity_filter,
        "custom_vocabulary": config.custom_vocabulary,
    }


def _stop_options(current: StopOptions, fields: BotFields) -> StopOptions:
    if "stop_options" in fields.model_fields_set and fields.stop_options is None:
        current = StopOptions()
    options = fields.stop_options
    changes = {name: getattr(options, name) for name in options.model_fields_set} if options else {}
    if fields.time_limit is not None:
        changes.setdefault("time_limit", fields.time_limit)
    return replace(current, **changes)


def _authentication(fields: AuthenticationFields | None) -> Authentication | None:
    if fields is None:
        return None
    return Authentication(
        meeting_account_id=fields.account_id,
        entry_token=fields.zoom_zak_token,
        always_authenticate=fields.always_authenticate,
    )
