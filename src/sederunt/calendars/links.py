"""The meeting of a calendar event: the first in its texts that a platform understands, with its passcode."""

from collections.abc import Sequence

from sederunt.platforms.addresses import addresses_in, the_address, without_addresses
from sederunt.platforms.links import ForeignLink, InvalidLink, MeetingLink
from sederunt.platforms.registry import parse_link, services

_MOST = 60  # addresses of one event: a description may be a newsletter
_LONGEST = 2_000  # characters of one
_LONGEST_WORDS = 6_000
_SHORTEST_NUMBER = 12  # digits: a service with shorter meeting numbers writes its invitations in the same words


def meeting_link(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return (service, address) of the first meeting that the texts name; None if there is none.

    Of several addresses of one meeting the most complete is taken, and a passcode in words is added if it has none.
    Raises InvalidLink if the only addresses on a service's host name no meeting.
    """
    first: MeetingLink | None = None
    address, fault = "", None
    for candidate in _candidates(texts):
        link = _parsed(candidate)
        if isinstance(link, InvalidLink):
            fault = fault or (None if isinstance(link, ForeignLink) else link)
        elif first is None or (_is_same(link, first) and _fullness(link) > _fullness(first)):
            first, address = link, candidate
    if first is None:
        meeting_in_words = _told_meeting(texts)
        if meeting_in_words is None and fault is not None:
            raise fault
        return meeting_in_words
    return str(first.service), address if _has_passcode(first) else _with_passcode(first, address, texts)


def _candidates(texts: Sequence[str]) -> list[str]:
    # Returns the addresses of the texts, in order, without the wrappers that mail systems put around them.
    addresses: list[str] = []
    for text in texts:
        for address in addresses_in(text) if "/" in text else ():
            if len(addresses) == _MOST:
                return addresses
            if len(address) <= _LONGEST:
                try:
                    addresses.append(the_address(address, "").geturl())
                except InvalidLink:
                    continue
    return addresses


def _parsed(address: str) -> MeetingLink | InvalidLink:
    fault: InvalidLink = ForeignLink("No service has this address.")
    for service in services():
        try:
            return parse_link(service, address)
        except ForeignLink:
            continue
        except InvalidLink as error:
            fault = error
    return fault


def _is_same(link: MeetingLink, other: MeetingLink) -> bool:
    return (link.service, link.meeting_id) == (other.service, other.meeting_id)


def _has_passcode(link: MeetingLink) -> bool:
    return link.passcode is not None or "?" in link.url


def _fullness(link: MeetingLink) -> tuple[bool, int]:
    return _has_passcode(link), len(link.url)


def _with_passcode(link: MeetingLink, address: str, texts: Sequence[str]) -> str:
    # Returns an address with the passcode that the texts give in words, in the form that `POST /bot` takes.
    for text in texts:
        try:
            passcode = parse_link(link.service, f"{address} {without_addresses(text)[:_LONGEST_WORDS]}").passcode
        except InvalidLink:
            continue
        if passcode is not None:
            return f"{address} Passcode: {passcode}"
    return address


def _told_meeting(texts: Sequence[str]) -> tuple[str, str] | None:
    # Returns a meeting that the texts name only by number and passcode, without an address.
    for text in texts:
        words = without_addresses(text)[:_LONGEST_WORDS].replace("/", " ")
        for service in services():
            try:
                link = parse_link(service, words)
            except InvalidLink:
                continue
            if link.passcode is not None and len(link.meeting_id) >= _SHORTEST_NUMBER:
                return str(service), f"Meeting ID: {link.meeting_id} Passcode: {link.passcode}"
    return None
