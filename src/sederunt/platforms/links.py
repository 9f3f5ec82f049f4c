"""Hold the address of a meeting. Imports no browser: the API checks links with these records."""

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
