"""Where a vendor is: the settings decide, then the region of the credential, then the vendor's own row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit, urlunsplit

from sederunt.errors import SetupError
from sederunt.settings import Settings, variable
from sederunt.transcription.rows import ProviderRow, Region

REST = ("http", "https")
_OF_SOCKETS: Mapping[str, str] = MappingProxyType({"http": "ws", "https": "wss"})


def rest_address(settings: Settings, row: ProviderRow, region: str | None) -> str:
    """Return the root of the vendor's requests. Raises SetupError for a region that it does not have, and for settings
    that are no address.
    """
    given = settings.providers.get(row.name)
    return _given(row, "url", given.url, REST) if given and given.url else _region(row, region).url


def socket_address(settings: Settings, row: ProviderRow, region: str | None) -> str:
    """Return the root of the vendor's sockets; where the settings name only its URL, the socket is there, too. Raises
    SetupError where there is none, and for settings that are no address.
    """
    given = settings.providers.get(row.name)
    if given and given.socket_url:
        return as_socket(_given(row, "socket_url", given.socket_url, ("ws", "wss", *REST)))
    if given and given.url:
        return as_socket(_given(row, "url", given.url, REST))
    address = _region(row, region).socket_url
    if address is None:
        raise SetupError(f"{row.title} has no socket: set {variable('providers', row.name, 'socket_url')}.")
    return address


def as_socket(address: str) -> str:
    """Return the address of a socket that may be written as that of a page: http is ws there, and https wss."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(scheme=_OF_SOCKETS.get(parts.scheme, parts.scheme)))


def same_origin(one: str, other: str) -> bool:
    """Return whether a key that goes to one address may go to the other; to what is no address none may."""
    try:
        first, second = urlsplit(one), urlsplit(other)
        return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)
    except ValueError:
        return False


def _given(row: ProviderRow, name: str, address: str, schemes: Sequence[str]) -> str:
    """Return an address of the settings without a beginning of the vendor's paths, which it may hold. Once: a proxy may
    have a path of the same name before it. Raises SetupError for what is no address; it is not repeated, for callers
    read the sentence.
    """
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or a host in brackets that is none
        is_whole = False
    if not is_whole:
        begins = " or ".join(f"{scheme}://" for scheme in schemes[:2])
        raise SetupError(f"{variable('providers', row.name, name)} has to begin with {begins} and a host.")
    path = parts.path.rstrip("/")
    known = next((each for each in row.beginnings if path.endswith(each)), "")
    return urlunsplit(parts._replace(path=path.removesuffix(known)))


def _region(row: ProviderRow, region: str | None) -> Region:
    if not region:
        return Region(url=row.url, socket_url=row.socket_url)
    if region not in row.regions:
        known = ", ".join(row.regions) or "none"
        raise SetupError(f"{row.title} has no region '{region}' that is known here; known: {known}.")
    return row.regions[region]
