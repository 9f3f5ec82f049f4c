"""Which meeting a text names, without a browser: the API checks meeting addresses with this."""

from sederunt.model.bot import Service
from sederunt.platforms.platform import InvalidLink, MeetingLink
from sederunt.platforms.registry import platform_of

__all__ = ["InvalidLink", "MeetingLink", "parse_link"]


def parse_link(service: Service, text: str) -> MeetingLink:
    """The meeting of this service that a text names. Raises InvalidLink, whose sentence says what was expected."""
    return platform_of(service).parse_link(text)
