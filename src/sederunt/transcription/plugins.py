"""Find transcription providers: the entry points of the group "sederunt.transcribers".

Built-in providers and those of other packages are found in the same way. A provider brings its rows (`Provider.row`,
`Provider.models`), so a package installed beside this one adds models without a change here.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from sederunt import log
from sederunt.errors import SetupError
from sederunt.settings import Settings
from sederunt.transcription.provider import Provider
from sederunt.transcription.rows import ModelRow
from sederunt.transcription.sessions import RealtimeProvider

GROUP = "sederunt.transcribers"

logger = log.get(component="transcription")


@cache
def installed_providers() -> Mapping[str, Provider]:
    """Return every installed provider, by name. One that fails to load is logged and skipped: the others still work."""
    providers: dict[str, Provider] = {}
    for entry in entry_points(group=GROUP):
        try:
            plug: Provider = entry.load()
            if plug.row.name != entry.name:
                raise SetupError(f"The entry point '{entry.name}' brings the rows of '{plug.row.name}'.")
        except Exception as error:
            logger.error("transcriber not loaded", action="plug_failed", name=entry.name, why=repr(error))
            continue
        providers.setdefault(entry.name, plug)
    return MappingProxyType(providers)


def provider(name: str) -> Provider:
    """Return the installed provider of this name. Raises SetupError if there is none."""
    try:
        return installed_providers()[name]
    except KeyError:
        raise SetupError(
            f"{name} is not part of this installation: no entry point '{name}' in the group '{GROUP}'."
        ) from None


def realtime_provider(name: str) -> RealtimeProvider:
    """Return the live half of the installed provider of this name. Raises SetupError if there is none."""
    plug = provider(name)
    if plug.realtime is None:
        raise SetupError(f"{plug.row.title} does not transcribe live in this installation.")
    return plug.realtime


def live_fault(settings: Settings, model_row: ModelRow) -> str | None:
    """Return why this model cannot transcribe a bot live here, as a sentence with the remedy; None if it can."""
    if model_row.provider is None:
        return None
    try:
        return realtime_provider(model_row.provider).fault(settings, model_row)
    except SetupError as fault:
        return str(fault)


def is_installed(name: str) -> bool:
    """Return whether a provider of this name is installed."""
    return name in installed_providers()
