"""Hold the address of a meeting. Imports no browser: the API checks links with these records."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sederunt.errors import RequestError
from sederunt.model.bot import Service


class InvalidLink(RequestError):
    """Not an address of a meeting on this service; the sentence says what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingLink:
    """A meeting's address, stripped of wrappers and noise."""

    service: Service
    url: str = field(repr=False)  # what the browser opens
    meeting_id: str  # the site's own code, number or thread
    passcode: str | None = field(default=None, repr=False)  # for a passcode field, where one is shown
    fallback_url: str | None = field(default=None, repr=False)  # another door, tried where the first one stalls


def names_no_meeting(parse_link: Callable[[str], MeetingLink], url: str) -> bool:
    """Return whether an address of the web names no meeting of a site: there sites lead who is not let in, or out of a
    call: to their start page, to a survey. An empty tab or the browser's own page of errors is none of theirs."""
    if not url.startswith(("https://", "http://")):
        return False
    try:
        parse_link(url)
    except InvalidLink:
        return True
    return False
