"""A bot as columns, and back."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from enum import Enum
from typing import Any, Protocol
from uuid import UUID

from sederunt.errors import NotFound, SetupError
from sederunt.model.bot import Authentication, Bot, BotConfig, Gap, Service, StopOptions, Verdict
from sederunt.model.status import BotStatus, StopReason, shown_reason

# What `mark` and `record_transition(changes=…)` may write besides the status.
FACTS = frozenset(
    {
        "recording_started_at",
        "recording_ended_at",
        "recording_object",
        "recording_available_until",
        "detected_lang",
        "verdict",
        "gaps",
        "capture",
        "evidence",
        "host",
        "attempts",
    }
)

_CONFIG_FIELDS = frozenset(field.name for field in fields(BotConfig))


class Seals(Protocol):
    """Seals a secret for one place in the database; `accounts.sealing.Sealer` implements it."""

    def seal(self, text: str, table: str, column: str, row: object) -> bytes: ...

    def open(self, sealed: bytes, table: str, column: str, row: object) -> str: ...


class NoSeals:
    """Stands in if no key was given: everything runs until a secret is stored or read, which raises SetupError."""

    def seal(self, text: str, table: str, column: str, row: object) -> bytes:
        raise SetupError("A sealing key is needed to keep a secret: give the store a Sealer.")

    def open(self, sealed: bytes, table: str, column: str, row: object) -> str:
        raise SetupError("A sealing key is needed to open a secret: give the store a Sealer.")


def columns_of(bot: Bot, seals: Seals) -> dict[str, Any]:
    """Return the values of a new row."""
    return {
        "id": bot.id,
        "account_id": bot.account_id,
        **config_columns(bot.id, bot.config, seals),
        "status": bot.status.value,
        "stop_reason": bot.stop_reason.value if bot.stop_reason else None,
        "created_at": bot.created_at,
        "scheduled_for": bot.scheduled_for,
        "finished_at": bot.finished_at,
        "epoch": bot.epoch,
        "stop_requested": bot.stop_requested,
        "secret": bot.secret,
        "key_id": bot.key_id,
        **fact_columns({name: getattr(bot, name) for name in FACTS}),
    }


def config_columns(bot_id: UUID, config: BotConfig, seals: Seals) -> dict[str, Any]:
    """Return the config as a document without its secret, and the secret sealed."""
    zak = config.authentication.entry_token if config.authentication else None
    if config.authentication and zak is not None:
        config = replace(config, authentication=replace(config.authentication, entry_token=None))
    return {"config": asdict(config), "zak": None if zak is None else seals.seal(zak, "bots", "zak", bot_id)}


def config_of(document: Mapping[str, Any], zak: str | None = None) -> BotConfig:
    """Return a stored config without fields that a newer version wrote."""
    values = {name: value for name, value in document.items() if name in _CONFIG_FIELDS}
    values["service"] = Service(values["service"])
    values["stop_options"] = StopOptions(**values["stop_options"])
    values["custom_vocabulary"] = tuple(values["custom_vocabulary"])
    values["webhook_events"] = tuple(values.get("webhook_events") or ())
    if values.get("transcription_fallback") is not None:
        values["transcription_fallback"] = tuple(values["transcription_fallback"])
    if values["transcription_credentials"] is not None:
        values["transcription_credentials"] = UUID(values["transcription_credentials"])
    if values["authentication"] is not None:
        authentication = values["authentication"]
        values["authentication"] = Authentication(
            # Earlier versions wrote it as `account_id`.
            meeting_account_id=authentication.get("meeting_account_id", authentication.get("account_id")),
            entry_token=zak,
            always_authenticate=authentication["always_authenticate"],
        )
    return BotConfig(**values)


def fact_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as column values. Raises ValueError for a name that is not a fact."""
    unknown_names = facts.keys() - FACTS
    if unknown_names:
        raise ValueError(f"not facts of a bot: {', '.join(sorted(unknown_names))}")
    values = {name: _column_value(name, value) for name, value in facts.items()}
    if values.get("recording_available_until") is not None:
        values["media_until"] = values["recording_available_until"]
    return values


def _column_value(name: str, value: Any) -> Any:
    if name == "gaps":
        return [asdict(gap) for gap in value] or None
    if name in ("capture", "evidence"):
        return dict(value) or None
    return value.value if isinstance(value, Enum) else value


def bot_of(row: Mapping[str, Any], zak: str | None = None) -> Bot:
    """Return a bot from its row, with `stop_reason` only if its status lets a caller see it."""
    status = BotStatus(row["status"])
    return Bot(
        id=row["id"],
        account_id=row["account_id"],
        config=config_of(row["config"], zak),
        status=status,
        stop_reason=shown_reason(status, StopReason(row["stop_reason"]) if row["stop_reason"] else None),
        created_at=row["created_at"],
        scheduled_for=row["scheduled_for"],
        finished_at=row["finished_at"],
        recording_started_at=row["recording_started_at"],
        recording_ended_at=row["recording_ended_at"],
        recording_object=row["recording_object"],
        recording_available_until=row["recording_available_until"],
        detected_lang=row["detected_lang"],
        verdict=Verdict(row["verdict"]) if row["verdict"] else None,
        gaps=tuple(Gap(**gap) for gap in row["gaps"] or ()),
        capture=row["capture"] or {},
        evidence=row["evidence"] or {},
        host=row["host"],
        epoch=row["epoch"],
        attempts=row["attempts"],
        stop_requested=bool(row["stop_requested"]),
        delete_requested=bool(row["delete_requested"]),
        secret=row["secret"],
        key_id=row["key_id"],
    )


def overview_of(row: Mapping[str, Any]) -> Bot:
    """Return a bot from its row without the fields that its caller may have made long: lists for people omit them."""
    bot = bot_of(row)
    return replace(bot, config=replace(bot.config, custom_vocabulary=(), custom_metadata={}))


def metadata_digest(name: str, value: str) -> bytes:
    """Return the digest that finds a metadata entry: 16 bytes, whatever the entry's length."""
    entry = f"{len(name)}:{name}{value}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(entry, digest_size=16).digest()


def unknown_bot() -> NotFound:
    """Return the error for a bot that does not exist, belongs to another account, or is deleted."""
    return NotFound("There is no bot with this id.")
