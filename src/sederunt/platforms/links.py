"""Which meeting a text names, without a browser: the API checks meeting addresses with this."""

from dataclasses import replace
from urllib.parse import quote

from sederunt.model.bot import Service
from sederunt.platforms.platform import InvalidLink, MeetingLink
from sederunt.platforms.registry import platform_of

__all__ = ["InvalidLink", "MeetingLink", "parse_link", "with_zak"]


def parse_link(service: Service, text: str) -> MeetingLink:
    """The meeting of this service that a text names. Raises InvalidLink, whose sentence says what was expected."""
    return platform_of(service).parse_link(text)


def with_zak(link: MeetingLink, token: str) -> MeetingLink:
    """A Zoom link that enters as the token's user. Join it with `signed_in`: a void token then says so."""
    return replace(link, url=f"{link.url}{'&' if '?' in link.url else '?'}zak={quote(token, safe='')}")
