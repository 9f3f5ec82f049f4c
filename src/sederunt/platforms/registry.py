"""Find the installed meeting sites: the entry points of the group "sederunt.platforms"."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from sederunt import log
from sederunt.errors import SetupError
from sederunt.model.bot import Service
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in_pages import AccountKind

GROUP = "sederunt.platforms"
_OURS = "sederunt"

logger = log.get(component="platforms")


@cache
def installed() -> Mapping[Service, Platform]:
    """Load every platform, ours first. One that cannot be loaded is logged and left out; the others still work."""
    platforms: dict[Service, Platform] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry) != _OURS, entry.name)):
        if entry.name in platforms:
            logger.error("a platform of this name is there already", action="platform_left_out", **_facts(entry))
            continue
        try:
            platform: Platform = entry.load()
            if platform.service != entry.name:
                raise SetupError(f"The platform calls itself '{platform.service}', its entry point '{entry.name}'.")
        except Exception as error:  # a third party's package may raise anything
            logger.error("a platform cannot be loaded", action="platform_left_out", why=str(error), **_facts(entry))
            continue
        platforms[Service(entry.name)] = platform
    return platforms


def services() -> tuple[Service, ...]:
    """Name the services that callers may send."""
    return tuple(installed())


def services_taking(kind: AccountKind) -> tuple[Service, ...]:
    """Name the services that take accounts of this kind."""
    return tuple(name for name, platform in installed().items() if platform.accounts.kind is kind)


def platform_of(service: Service) -> Platform:
    """Find the platform that serves a service. Raises SetupError if none is installed."""
    if (platform := installed().get(service)) is not None:
        return platform
    raise SetupError(
        f"No platform for '{service}' is installed, only for {', '.join(services())}: install the package that brings "
        f"it (entry point group '{GROUP}')."
    )


def parse_link(service: Service, text: str) -> MeetingLink:
    """Read the meeting of this service that a text names. Raises InvalidLink, whose sentence says what was expected."""
    return platform_of(service).parse_link(text)


def service_of_link(text: str) -> Service:
    """Return the service whose meeting a text names. Raises InvalidLink, with the message of the one service that owns
    the host."""
    faults: list[InvalidLink] = []
    for service, platform in installed().items():
        try:
            platform.parse_link(text)
        except ForeignLink:
            continue
        except InvalidLink as fault:
            faults.append(fault)
            continue
        return service
    if len(faults) == 1:
        raise faults[0]
    raise InvalidLink(f"meeting_url is no link of {', '.join(services())}: name its service.")


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _facts(entry: EntryPoint) -> dict[str, str]:
    return {"service": entry.name, "package": _package(entry), "place": entry.value}
