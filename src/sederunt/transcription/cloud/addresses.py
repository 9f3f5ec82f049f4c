"""Find a vendor's address: from the settings, else from the credential's region, else from the vendor's row."""

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
    """Return the root of the vendor's requests. Raises SetupError for an unknown region, and for settings that are no
    address.
    """
    provider_settings = settings.providers.get(row.name)
    return (
        _given(row, "url", provider_settings.url, REST)
        if provider_settings and provider_settings.url
        else _region(row, region).url
    )


def socket_address(settings: Settings, row: ProviderRow, region: str | None) -> str:
    """Return the root of the vendor's sockets. If the settings name only its URL, its sockets are there, too. Raises
    SetupError if there are none, and for settings that are no address.
    """
    provider_settings = settings.providers.get(row.name)
    if provider_settings and provider_settings.socket_url:
        return as_socket(_given(row, "socket_url", provider_settings.socket_url, ("ws", "wss", *REST)))
    if provider_settings and provider_settings.url:
        return as_socket(_given(row, "url", provider_settings.url, REST))
    address = _region(row, region).socket_url
    if address is None:
        raise SetupError(f"{row.title} has no socket: set {variable('providers', row.name, 'socket_url')}.")
    return address


def as_socket(address: str) -> str:
    """Return a socket's address, with http and https replaced by ws and wss."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(scheme=_OF_SOCKETS.get(parts.scheme, parts.scheme)))


def same_origin(one: str, other: str) -> bool:
    """Return whether a key for one address may be sent to the other; False if either is no address."""
    try:
        first, second = urlsplit(one), urlsplit(other)
        return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)
    except ValueError:
        return False


def _given(row: ProviderRow, name: str, address: str, schemes: Sequence[str]) -> str:
    """Return an address of the settings, without the beginning of the vendor's paths that it may end with. That is
    removed once: a proxy may have the same path before it. Raises SetupError if it is no address; the message does
    not repeat it, since callers see it.
    """
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or an invalid host in brackets
        is_valid = False
    if not is_valid:
        scheme_choices = " or ".join(f"{scheme}://" for scheme in schemes[:2])
        raise SetupError(f"{variable('providers', row.name, name)} has to begin with {scheme_choices} and a host.")
    path = parts.path.rstrip("/")
    path_beginning = next((beginning for beginning in row.beginnings if path.endswith(beginning)), "")
    return urlunsplit(parts._replace(path=path.removesuffix(path_beginning)))


def _region(row: ProviderRow, region: str | None) -> Region:
    if not region:
        return Region(url=row.url, socket_url=row.socket_url)
    if region not in row.regions:
        region_names = ", ".join(row.regions) or "none"
        raise SetupError(f"{row.title} has no region '{region}' that is known here; known: {region_names}.")
    return row.regions[region]
