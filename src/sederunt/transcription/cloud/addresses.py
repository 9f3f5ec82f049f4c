"""Where a vendor is: the settings decide, then the region of the credential, then the vendor's own row."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from sederunt.errors import SetupError
from sederunt.settings import Settings, variable
from sederunt.transcription.rows import ProviderRow, Region


def rest_address(settings: Settings, row: ProviderRow, region: str | None) -> str:
    """Return the root of the vendor's requests. Raises SetupError for a region that it does not have."""
    given = settings.providers.get(row.name)
    return _root(row, given.url) if given and given.url else _region(row, region).url


def socket_address(settings: Settings, row: ProviderRow, region: str | None) -> str:
    """Return the root of the vendor's sockets; where the settings name only its URL, the socket is there, too."""
    given = settings.providers.get(row.name)
    if given and given.socket_url:
        return _root(row, given.socket_url)
    if given and given.url:
        return "ws" + _root(row, given.url).removeprefix("http")
    address = _region(row, region).socket_url
    if address is None:
        raise SetupError(f"{row.title} has no socket: set {variable('providers', row.name, 'socket_url')}.")
    return address


def same_origin(one: str, other: str) -> bool:
    """Return whether a key that goes to one address may go to the other."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)


def _root(row: ProviderRow, address: str) -> str:
    """Return an address of the settings without a beginning of the vendor's paths, which it may hold. Once: a proxy may
    have a path of the same name before it.
    """
    parts = urlsplit(address)
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
