"""Which meeting sites this installation knows: the entry points of the group "sederunt.platforms"."""

from functools import cache
from importlib.metadata import entry_points

from sederunt.errors import SetupError
from sederunt.model.bot import Service
from sederunt.platforms.links import MeetingLink
from sederunt.platforms.platform import Platform

GROUP = "sederunt.platforms"


@cache
def platform_of(service: Service) -> Platform:
    """The platform that serves a service. Raises SetupError where none is installed."""
    for entry in entry_points(group=GROUP, name=service.value):
        platform: Platform = entry.load()
        return platform
    raise SetupError(f"No platform for '{service}' is installed: reinstall sederunt, entry point group '{GROUP}'.")


def parse_link(service: Service, text: str) -> MeetingLink:
    """Read the meeting of this service that a text names. Raises InvalidLink, whose sentence says what was expected."""
    return platform_of(service).parse_link(text)
