"""Google Meet addresses: a code of 3-4-3 letters, or a nickname that an organisation chose."""

import re

from sederunt.model.bot import Service
from sederunt.platforms.addresses import decoded, refuse_second_address, the_address
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink

HOST = "meet.google.com"
EXPECTED = f"expected https://{HOST}/abc-defg-hij"

# Three sources agree on 3-4-3; one accepts one letter more at either end, and codes without dashes.
_CODE = re.compile(r"([a-z]{3,4})-([a-z]{4})-([a-z]{3,4})")
_UNDASHED = re.compile(r"([a-z]{3})([a-z]{4})([a-z]{3})")
_NICKNAME = re.compile(r"[a-z0-9][a-z0-9-]{3,38}[a-z0-9]")
# Short groups of letters are a mistyped code, not a nickname: better to say so now than to let the site do it.
_MISTYPED_CODE = re.compile(r"[a-z]{1,5}(?:-[a-z]{1,5}){0,2}")
_NOT_A_MEETING = frozenset({"new", "landing", "lookup"})


def parse_link(text: str) -> MeetingLink:
    """Return the meeting that a text names. Raises InvalidLink."""
    address = the_address(text, EXPECTED)
    if address.netloc != HOST:
        raise ForeignLink(f"The meeting_url is not on {HOST}: {EXPECTED}.")
    refuse_second_address(address, EXPECTED)
    code, is_nickname = _code_of(decoded(address.path).strip("/").lower())
    # The language is pinned because the texts we read are English; every other parameter is dropped.
    return MeetingLink(
        service=Service("gmeet"), url=f"https://{HOST}/{code}?hl=en", meeting_id=code, is_nickname=is_nickname
    )


def _code_of(path: str) -> tuple[str, bool]:
    # Returns the code or nickname of a path, and whether it is a nickname.
    path = path.rstrip(" .,;>")
    if match := _CODE.fullmatch(path) or _UNDASHED.fullmatch(path):
        return "-".join(match.groups()), False
    if path not in _NOT_A_MEETING and not _MISTYPED_CODE.fullmatch(path) and _NICKNAME.fullmatch(path):
        return path, True
    raise InvalidLink(f"The meeting_url holds no meeting code: {EXPECTED}.")
