"""The table of transcription models: the identifiers a caller may send, their providers, their capabilities.

An identifier is `vendor<n>` with a suffix; the numbers are permanent (the specification's decision table).
Plain names are aliases. Responses show the identifier that was sent, so nothing here rewrites one.
The rows come with the providers of this installation (see `plugins`); only "none" is written here.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from sederunt.errors import SetupError
from sederunt.transcription.plugins import installed_providers
from sederunt.transcription.rows import Can, ModelRow, ProviderRow

# The model that transcribes nothing: a bot with it records only.
NONE = "none"


@cache
def providers() -> Mapping[str, ProviderRow]:
    """Return every provider, by name."""
    rows = {plug.row.name: plug.row for plug in installed_providers().values()}
    return MappingProxyType(dict(sorted(rows.items(), key=lambda item: _first_model(item[0]))))


@cache
def models() -> tuple[ModelRow, ...]:
    """Return every model, "none" first, then in the order of their identifiers. Raises SetupError if two
    share a name."""
    model_rows = [row for plug in installed_providers().values() for row in plug.models]
    rows = sorted(model_rows, key=lambda row: _natural(row.identifier))
    table = (ModelRow(identifier=NONE, aliases=(), provider=None), *rows)
    _refuse_doubles(table)
    return table


@cache
def bot_models() -> tuple[str, ...]:
    """Return every name a bot may give, canonical names first: what validation lists."""
    return _names(row for row in models() if row.for_bots)


@cache
def recording_models() -> tuple[str, ...]:
    """Return every name a recording may give, canonical names first."""
    return _names(row for row in models() if row.for_recordings)


def documented(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that the documentation's table has, without a hosted service's spellings."""
    spellings = {key for row in models() for key in row.keys}
    return tuple(name for name in names if name not in spellings)


def batch_models(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names whose models transcribe recordings."""
    rows = ((name, find(name)) for name in names)
    return tuple(name for name, row in rows if row is not None and row.provider is not None and not row.realtime)


def check_fallback(names: Iterable[str]) -> None:
    """Raise SetupError if the setting of fallback models names one that transcribes no recordings."""
    if unfit := sorted(set(names) - set(batch_models(names))):
        raise SetupError(
            f"SEDERUNT_TRANSCRIPTION__FALLBACK names {', '.join(map(repr, unfit))}, which no installed vendor knows as "
            f"a model for recordings. Choose of: {', '.join(batch_models(recording_models()))}."
        )


@cache
def _by_name() -> Mapping[str, ModelRow]:
    return MappingProxyType({name: row for row in models() for name in row.names})


def find(identifier: str) -> ModelRow | None:
    """Return the row of an identifier or alias; None if there is no such model."""
    return _by_name().get(identifier)


def has_sockets(identifier: str, *, realtime_audio: bool) -> bool:
    """Return whether a bot with this model has realtime sockets: it is a live model, or the caller asked for them."""
    row = find(identifier)
    return realtime_audio or (row is not None and row.realtime)


def has_added_sockets(identifier: str, *, realtime_audio: bool) -> bool:
    """Return whether a bot has realtime sockets only because the caller asked: a live model has them anyway."""
    return realtime_audio and not has_sockets(identifier, realtime_audio=False)


def is_live_here(identifier: str) -> bool:
    """Return whether this machine itself transcribes the model live: it can follow only so many bots."""
    row = find(identifier)
    return row is not None and row.realtime and row.provider == "whisper"


def provider_of(row: ModelRow) -> ProviderRow | None:
    """Return the model's provider; None for "none"."""
    return providers()[row.provider] if row.provider else None


def missing_key(provider: ProviderRow) -> str:
    """Return the message for a caller who named a model for which neither they nor the operator have a key."""
    return (
        f"No credential for {provider.title}. Add one with POST /credential or 'sederunt credentials add "
        f"{provider.name}' and send its id as transcription_credentials, or let the operator set "
        f"SEDERUNT_PROVIDERS__{provider.name.upper()}__KEY."
    )


def missing_provider(provider: ProviderRow) -> str:
    """Return the message for a caller who named a model whose provider is not installed."""
    return (
        f"{provider.title} is not part of this installation: no package introduces '{provider.name}' as a transcriber. "
        "Choose another transcription_model, or let the operator install one."
    )


def batch_twin(row: ModelRow) -> ModelRow:
    """Return the model that re-transcribes after a realtime one: same provider and, if possible, same generation."""
    if not row.realtime:
        return row
    offline_models = [other for other in models() if other.provider == row.provider and not other.realtime]
    same_model = [other for other in offline_models if other.vendor_model == row.vendor_model]
    return (same_model or offline_models)[0]


def _names(rows: Iterable[ModelRow]) -> tuple[str, ...]:
    row_list = list(rows)
    other_names = [name for row in row_list for name in row.names[1:]]
    return (*(row.identifier for row in row_list), *other_names)


def _refuse_doubles(rows: Iterable[ModelRow]) -> None:
    owners: dict[str, ModelRow] = {}
    for row in rows:
        for name in row.names:
            other = owners.setdefault(name, row)
            if other is not row:
                raise SetupError(
                    f"Two models are called '{name}': {other.identifier} of {other.provider} and {row.identifier} of "
                    f"{row.provider}. Uninstall one of their packages."
                )


def _natural(identifier: str) -> tuple[tuple[int, int | str], ...]:
    """Return a key that sorts "vendor2" before "vendor10", and "vendor2" before "vendor2-realtime"."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", identifier) if part)


def _first_model(provider: str) -> tuple[tuple[int, int | str], ...]:
    return min((_natural(row.identifier) for row in models() if row.provider == provider), default=())


__all__ = [
    "NONE",
    "Can",
    "ModelRow",
    "ProviderRow",
    "batch_models",
    "batch_twin",
    "bot_models",
    "documented",
    "find",
    "has_sockets",
    "is_live_here",
    "missing_key",
    "missing_provider",
    "models",
    "provider_of",
    "providers",
    "recording_models",
]
