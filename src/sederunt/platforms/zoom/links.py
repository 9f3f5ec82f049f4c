"""Zoom addresses: join, webinar, start, web client and personal links, converted to the web client's address."""

import re
from urllib.parse import SplitResult, parse_qs, quote, urlencode, urlunsplit

from sederunt.model.bot import Service
from sederunt.platforms.addresses import decoded, refuse_second_address, the_address
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink

EXPECTED = "expected https://zoom.us/j/<number>?pwd=<passcode>"

_HOST = re.compile(r"(?:[a-z0-9-]+\.)*(?:zoom\.us|zoom\.com|zoomgov\.com)")
_EVENTS = re.compile(r"(?:events|ev)\.zoom\.(?:us|com)")
_NUMBER = r"(\d{8,11})"
_PATHS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"/[jws]/{_NUMBER}", rf"/wc/{_NUMBER}(?:/(?:join|start))?", rf"/wc/join/{_NUMBER}")
)
_PERSONAL = re.compile(r"/my/([A-Za-z0-9][A-Za-z0-9._-]*)", re.IGNORECASE)
_PASSCODE_TEXT = re.compile(r"pass(?:code|word)\s*[:=]\s*([^\s)>\]\"',;]{1,32})", re.IGNORECASE)


def parse_link(text: str) -> MeetingLink:
    """Return the meeting that a text names. Raises InvalidLink."""
    address = the_address(text, EXPECTED)
    host = re.sub(r"zoom\.com$", "zoom.us", address.netloc)
    if _EVENTS.fullmatch(address.netloc):
        raise InvalidLink(f"The meeting_url is a Zoom Events page, which needs registration: {EXPECTED}.")
    if not _HOST.fullmatch(host):
        raise ForeignLink(f"The meeting_url is not on zoom.us: {EXPECTED}.")
    refuse_second_address(address, EXPECTED)
    path = decoded(address.path).rstrip("/ ")
    # A query with `pwd%3D` was encoded once too often.
    query_text = address.query if "=" in address.query else decoded(address.query)
    query = {name.lower(): values[0].strip() for name, values in parse_qs(query_text).items()}
    password = query.get("pwd") or query.get("password")
    passcode = _told_passcode(text, address) or password
    if personal := _PERSONAL.fullmatch(path):
        url = _written(host, path, {"pwd": password})
        return MeetingLink(service=Service("zoom"), url=url, meeting_id=personal.group(1), passcode=passcode)
    number = next((match.group(1) for pattern in _PATHS if (match := pattern.fullmatch(path))), None)
    if number is None:
        raise InvalidLink(f"The meeting_url holds no meeting number of 8 to 11 digits: {EXPECTED}.")
    return MeetingLink(
        service=Service("zoom"), url=_door(host, number, path, query, password), meeting_id=number, passcode=passcode
    )


def _told_passcode(text: str, address: SplitResult) -> str | None:
    # Returns a passcode that the text gives outside the address.
    other_text = decoded(text).replace(decoded(address.query), " ") if address.query else decoded(text)
    match = _PASSCODE_TEXT.search(other_text)
    return match.group(1) if match else None


def _door(host: str, number: str, path: str, query: dict[str, str], password: str | None) -> str:
    # A registrant's token must stay on its own page: other pages drop it and ask for registration.
    if "tk" in query:
        return _written(host, path, {"tk": query["tk"], "pwd": password})
    web_host = host if host.endswith("zoomgov.com") else "app.zoom.us"
    return _written(web_host, f"/wc/{number}/join", {"pwd": password})


def _written(host: str, path: str, parameters: dict[str, str | None]) -> str:
    query = urlencode({name: value for name, value in parameters.items() if value}, quote_via=quote)
    return urlunsplit(("https", host, path, query, ""))
