"""Hold the address of a meeting. Imports no browser: the API checks links with these records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sederunt.errors import RequestError
from sederunt.model.bot import Service

EMPTY_PAGE = "about:blank"


class InvalidLink(RequestError):
    """Not an address of a meeting on this service; the sentence says what was expected."""


class ForeignLink(InvalidLink):
    """An address on another host than this service's: perhaps a meeting of another one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingLink:
    """A meeting's address, stripped of wrappers and noise."""

    service: Service
    url: str = field(repr=False)  # what the browser opens
    meeting_id: str  # the site's own code, number or thread
    passcode: str | None = field(default=None, repr=False)  # for a passcode field, if one is shown
    is_nickname: bool = False  # the site redirects from there: no call has such an address
    fallback_url: str | None = field(default=None, repr=False)  # tried if the first address stalls


def names_no_meeting(parse_link: Callable[[str], MeetingLink], url: str) -> bool:
    """Return whether an address names no meeting of a site. Sites send people there who are not let in or who leave a
    call: to their start page, to a survey, to an empty page. The browser's own error page does not count."""
    if url == EMPTY_PAGE:
        return True
    if not url.startswith(("https://", "http://")):
        return False
    try:
        return parse_link(url).is_nickname
    except InvalidLink:
        return True


def place_of(url: str) -> str:
    """Return an address without its parts that may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else url.partition("?")[0]
