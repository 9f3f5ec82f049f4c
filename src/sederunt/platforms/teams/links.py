"""Microsoft Teams addresses: classic, short, personal, forced-web, launcher and light forms, and meeting numbers.

Every form is converted to the plain classic or short link, which each client of the site accepts; the forced-web form
of the same meeting is kept as the fallback.
"""

import json
import re
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, parse_qs, quote, unquote

from sederunt import foreign_json
from sederunt.model.bot import Service
from sederunt.platforms.addresses import base64_text, decoded, refuse_second_address, the_address, without_addresses
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink

EXPECTED = "expected https://teams.microsoft.com/l/meetup-join/… or https://teams.microsoft.com/meet/<number>?p=…"
WORK_HOST = "teams.microsoft.com"
PERSONAL_HOST = "teams.live.com"

_HOST = re.compile(
    r"(?:[a-z0-9-]+\.)*(?:teams\.microsoft\.com|teams\.live\.com|teams\.microsoft\.us|teams\.cloud\.microsoft)"
)
_CLASSIC = re.compile(r"/l/meetup-join/(19:[^/?#\s]+@[A-Za-z0-9.]+)/(\d+)", re.IGNORECASE)
_SHORT = re.compile(r"/meet/(\d{9,16})(?![\d])", re.IGNORECASE)
_TENANT = re.compile(r"[\"']Tid[\"']\s*:\s*[\"']([\w.-]{1,64})", re.IGNORECASE)
_ORGANISER = re.compile(r"[\"']Oid[\"']\s*:\s*[\"']([0-9a-f-]{8,40})", re.IGNORECASE)
_PASS = re.compile(r"[?&]p=([^&#\s]+)")
_TOKEN = re.compile(r"#token=([^&#\s]+)")
_LIGHT = re.compile(r"/light-meetings/", re.IGNORECASE)
_TOLD_NUMBER = re.compile(r"meeting\s*id\s*[:=]?\s*((?:\d[ \u2009\xa0-]?){9,16})(?!\d)", re.IGNORECASE)
_TOLD_PASSCODE = re.compile(r"pass(?:code|word)\s*[:=]?\s*([^\s)>\]\"',;]{1,32})", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Classic:
    thread: str  # "19:meeting_…@thread.v2"
    message: str  # "0" or Unix milliseconds
    tenant: str
    organiser: str | None


def parse_link(text: str) -> MeetingLink:
    """Return the meeting that a text names. Raises InvalidLink."""
    if "://" not in text and "/" not in text and (invitation_link := _told_meeting(text)):
        return invitation_link
    address = the_address(text, EXPECTED)
    if not _HOST.fullmatch(address.netloc):
        raise ForeignLink(f"The meeting_url is not on {WORK_HOST} or {PERSONAL_HOST}: {EXPECTED}.")
    refuse_second_address(address, EXPECTED)
    token = _TOKEN.search(f"#{address.fragment}")
    link = _light(address) if _LIGHT.search(address.path) else _plain(address)
    if link is None:
        raise InvalidLink(f"The meeting_url names no meeting: {EXPECTED}.")
    if (
        _SHORT.search(link.url)
        and "?p=" not in link.url
        and (passcode_match := _TOLD_PASSCODE.search(without_addresses(text)))
    ):
        link = replace(link, passcode=passcode_match.group(1))
    # A registered bot identifies itself by a token in the fragment; it stays on the plain link.
    return replace(link, url=f"{link.url}#token={token.group(1)}") if token else link


def _plain(address: SplitResult) -> MeetingLink | None:
    # Reads a classic or short link anywhere in the address: path, fragment, or a launcher's parameter.
    full_text = decoded(address.geturl())
    if match := _CLASSIC.search(full_text):
        tenant, organiser = _TENANT.search(full_text), _ORGANISER.search(full_text)
        if tenant is None:
            raise InvalidLink(f"The meeting_url lacks its context with the tenant (Tid): {EXPECTED}.")
        meeting = _Classic(
            thread=match.group(1),
            message=match.group(2),
            tenant=tenant.group(1),
            organiser=organiser.group(1) if organiser else None,
        )
        return _classic_link(address.netloc, meeting)
    if match := _SHORT.search(full_text):
        return _short_link(address.netloc, match.group(1), _pass_of(address))
    return None


def _pass_of(address: SplitResult) -> str | None:
    # Returns the opaque `p`, decoded once: it may itself contain escapes.
    for part in (f"?{address.query}", f"#{address.fragment}", unquote(address.query), unquote(address.fragment)):
        if match := _PASS.search(part):
            return unquote(match.group(1))
    return None


def _light(address: SplitResult) -> MeetingLink | None:
    # Reads the meeting from the anonymous client's address: base64 of percent-encoded JSON.
    query = parse_qs(address.query)
    coordinates_text = decoded(base64_text(query.get("coords", [""])[0]))
    try:
        coordinates = foreign_json.read(coordinates_text)
    except ValueError:
        return None
    if not isinstance(coordinates, dict):
        return None
    fields = {name: value for name, value in coordinates.items() if isinstance(value, str) and value}
    if (code := fields.get("meetingCode", "")) and _SHORT.fullmatch(f"/meet/{code}"):
        return _short_link(address.netloc, code, fields.get("passcode") or query.get("p", [None])[0])
    if "tenantId" not in fields or not (
        match := _CLASSIC.fullmatch(f"/l/meetup-join/{fields.get('conversationId')}/{fields.get('messageId', '0')}")
    ):
        return None
    meeting = _Classic(
        thread=match.group(1),
        message=match.group(2),
        tenant=fields["tenantId"],
        organiser=fields.get("organizerId"),
    )
    return _classic_link(address.netloc, meeting)


def _told_meeting(text: str) -> MeetingLink | None:
    # Reads "Meeting ID: 123 456 789 012  Passcode: aB3" as an invitation prints it.
    number, passcode_match = _TOLD_NUMBER.search(text), _TOLD_PASSCODE.search(text)
    if number is None:
        return None
    digits = re.sub(r"\D", "", number.group(1))
    passcode = passcode_match.group(1) if passcode_match else None
    url = _forced_web(WORK_HOST, f"/meet/{digits}", f"p={quote(passcode, safe='')}" if passcode else "")
    return MeetingLink(service=Service("teams"), url=url, meeting_id=digits, passcode=passcode)


def _classic_link(host: str, meeting: _Classic) -> MeetingLink:
    context = {"Tid": meeting.tenant} | ({"Oid": meeting.organiser} if meeting.organiser else {})
    path = f"/l/meetup-join/{quote(meeting.thread, safe='')}/{meeting.message}"
    query = f"context={quote(json.dumps(context, separators=(',', ':')), safe='')}"
    return MeetingLink(
        service=Service("teams"),
        url=f"https://{host}{path}?{query}",
        meeting_id=meeting.thread,
        fallback_url=_forced_web(host, path, query),
    )


def _short_link(host: str, number: str, opaque: str | None) -> MeetingLink:
    # Guests need `p`, but some tenants leave it out, so the site has to judge its absence.
    query = f"p={quote(opaque, safe='')}" if opaque else ""
    return MeetingLink(
        service=Service("teams"),
        url=f"https://{host}/meet/{number}" + (f"?{query}" if query else ""),
        meeting_id=number,
        fallback_url=_forced_web(host, f"/meet/{number}", query),
    )


def _forced_web(host: str, path: str, query: str) -> str:
    # This address skips most of the launcher.
    return f"https://{host}/v2/?meetingjoin=true#{path}?{query + '&' if query else ''}anon=true"
