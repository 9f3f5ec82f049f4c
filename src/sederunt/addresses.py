"""Guard for addresses that callers give us: webhooks, avatars, recordings.

A caller may name any host, and a name may lead anywhere: to this machine, to the network behind it, to a cloud's
metadata service. So the check is made where the socket is opened: the name is resolved once, every resulting address
is checked, and the connection goes to exactly the checked address. Redirects, retries and names whose answers change
(rebinding) all pass through the same place.

The addresses of this machine's own interfaces, even public ones, count as private: a service that listens there for
this machine alone, perhaps behind a firewall, would accept a call from here. The list is read for every check, since
interfaces come and go.

Allowed ports: 80, 443 and everything from 1024 on, since receivers on public hosts often use ports of their own. Below
1024 are mail, DNS and login services, and a crafted request from us could speak their protocols.
"""

import asyncio
import ssl
import typing
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import httpcore2
import httpx2
import psutil

from sederunt.errors import DestinationError
from sederunt.name_lookup import Address, LookupShare, addresses_of

# IPv6 forms that carry an IPv4 address: (network, number of bits to the right of that address).
_CARRIERS = (
    (IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (IPv6Network("::/96"), 0),  # IPv4-compatible, long obsolete
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (IPv6Network("64:ff9b:1::/48"), 0),  # NAT64 of a local network
    (IPv6Network("2002::/16"), 80),  # 6to4
)
_TEREDO = IPv6Network("2001::/32")  # the client's address, inverted, in the last 32 bits

# Not global unicast, although some versions of `ipaddress` say so.
_CLOSED_V4 = tuple(IPv4Network(text) for text in ("0.0.0.0/8", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/3"))
_GLOBAL_V6 = IPv6Network("2000::/3")  # the only range from which unicast addresses are given out

_PRIVATE = "This address leads into a private network; SEDERUNT_ALLOW_PRIVATE_ADDRESSES=true lets the service call it."
LOWEST_FREE_PORT = 1024
WEB_PORTS = frozenset({80, 443})
MOST_REDIRECTS = 3
NOT_MODIFIED = 304
HEAD_S = 30.0  # until the headers of a response are complete
# Limits for a response up to the end of its headers, 1xx responses included: parsing them keeps everybody else waiting.
MOST_HEAD_BYTES, HEAD_STEP_BYTES = 64_000, 4_096
CRUMB_BYTES, MOST_CRUMBS = 64, 10_000  # a body of more pieces must have larger ones on average
AS_IT_IS = "identity"  # the content encoding without compression


def is_public(address: Address) -> bool:
    """Return whether this is a global unicast address, also after unwrapping, and not one of this machine's own."""
    if isinstance(address, IPv4Address):
        is_global = address.is_global and not any(address in network for network in _CLOSED_V4)
        return is_global and not _is_own(address)
    inner_address = _carried(address)
    if inner_address is not None:
        # Only the mapped form is allowed: it is just another spelling. Nobody needs 6to4 or Teredo today, and their
        # relay decides where a packet goes.
        return address in _CARRIERS[0][0] and is_public(inner_address)
    return address in _GLOBAL_V6 and address.is_global and not _is_own(address)


def _is_own(address: Address) -> bool:
    return any(str(address) == entry.address for interface in psutil.net_if_addrs().values() for entry in interface)


def refusal(url: str, *, allow_private: bool = False) -> str | None:
    """Return what is wrong with a URL's form, as a sentence; None if nothing is. Resolves no name."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        httpx2.URL(url)  # refuses names that no client can look up
    except (ValueError, httpx2.InvalidURL):
        return "This is not an address: expected https://host/path."
    if parts.scheme not in ("http", "https") or not host:
        return "This is not a web address: expected http:// or https:// and a host."
    if port == 0 or not (allow_private or port is None or _is_open_port(port)):
        return f"Port {port} is not open to us: expected 80, 443, or one from {LOWEST_FREE_PORT} on."
    if allow_private:
        return None
    try:
        address = ip_address(host)
    except ValueError:
        if host == "localhost" or host.endswith(".localhost"):
            return _PRIVATE
        return None
    return None if is_public(address) else _PRIVATE


async def leads_to_public(url: str, *, within_s: float = 5.0, share: LookupShare | None = None) -> bool:
    """Return whether every address of a URL's host is public.

    False if none is found in time: its name server may give the next client another one.

    Args:
        share: the share of lookups that this one counts against; False if it is used up.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 443
        addresses = await _resolve(host, port, within_s, share)
        return bool(addresses) and all(map(is_public, addresses))
    except (ValueError, httpcore2.ConnectError, httpcore2.ConnectTimeout):
        return False


def guarded_client(*, allow_private: bool, timeout_s: float, **options: typing.Any) -> httpx2.AsyncClient:
    """Return an HTTP client that reaches public addresses only.

    It follows no redirect, reads no proxy from the environment, keeps no cookie, and asks for uncompressed bodies.

    Its requests raise DestinationError (not retryable) if an address is refused, besides httpx2's own errors.
    """
    return httpx2.AsyncClient(
        transport=_GuardedTransport(allow_private=allow_private),
        headers={"accept-encoding": AS_IT_IS},
        # Cookies of one caller's server must not reach another's: an empty list allows no domain.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=timeout_s,
        follow_redirects=False,
        trust_env=False,
        **options,
    )


@asynccontextmanager
async def opened(
    client: httpx2.AsyncClient, url: str, *, allow_private: bool, headers: typing.Mapping[str, str] | None = None
) -> AsyncIterator[httpx2.Response]:
    """Provide the response to a GET, its body unread, after at most three redirects, each of them checked.

    Args:
        headers: added to the usual ones; with conditional headers a 304 is accepted too.

    Raises DestinationError: retryable for faults of the network and for 5xx, 408, 425 and 429.
    """
    for _ in range(MOST_REDIRECTS + 1):
        fault = refusal(url, allow_private=allow_private)
        if fault:
            raise DestinationError(fault, retryable=False)
        try:
            async with _answered(client, url, headers) as response:
                if not response.has_redirect_location:
                    if not (headers and response.status_code == NOT_MODIFIED):
                        _check_status(response)
                    _check_encoding(response)
                    yield response
                    return
                url = str(response.url.join(response.headers["location"]))
        except httpx2.HTTPError as error:
            raise DestinationError(f"The address did not answer: {type(error).__name__}.", retryable=True) from error
        except httpx2.InvalidURL:
            raise DestinationError("The address redirects to something that is no address.", retryable=False) from None
    raise DestinationError(f"The address redirects more than {MOST_REDIRECTS} times.", retryable=False)


@asynccontextmanager
async def _answered(
    client: httpx2.AsyncClient, url: str, headers: typing.Mapping[str, str] | None
) -> AsyncIterator[httpx2.Response]:
    """Provide the response to a GET once its headers are complete: a server may send 1xx responses without an end."""
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(HEAD_S):
                response = await stack.enter_async_context(client.stream("GET", url, headers=headers))
        except TimeoutError:
            raise DestinationError(f"The address did not answer within {HEAD_S:g} s.", retryable=True) from None
        yield response


async def blocks_of(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield a body block by block. Raises DestinationError for too many tiny blocks: each costs as much as any."""
    received_bytes = 0
    blocks = 0
    async for block in response.aiter_bytes():
        received_bytes, blocks = received_bytes + len(block), blocks + 1
        if blocks > MOST_CRUMBS and received_bytes < blocks * CRUMB_BYTES:
            sentence = f"The address sends its answer in pieces of {received_bytes // blocks} bytes."
            raise DestinationError(sentence, retryable=False)
        yield block


def _check_status(response: httpx2.Response) -> None:
    if not response.is_success:
        is_passing = response.is_server_error or response.status_code in (408, 425, 429)
        raise DestinationError(f"The address answered with status {response.status_code}.", retryable=is_passing)


def _check_encoding(response: httpx2.Response) -> None:
    """Refuse a compressed response: fifty kilobytes may unpack to gigabytes, in one step that no size check and no
    time limit can interrupt.
    """
    encoding = response.headers.get("content-encoding", AS_IT_IS)
    if encoding.strip().lower() != AS_IT_IS:
        sentence = f"The address answered in the encoding '{encoding[:40]}': expected the file as it is."
        raise DestinationError(sentence, retryable=False)


def _carried(address: IPv6Address) -> IPv4Address | None:
    for network, shift in _CARRIERS:
        if address in network:
            return IPv4Address((int(address) >> shift) & 0xFFFF_FFFF)
    if address in _TEREDO:
        return IPv4Address(~int(address) & 0xFFFF_FFFF)
    return None


def _is_open_port(port: int) -> bool:
    return port in WEB_PORTS or port >= LOWEST_FREE_PORT


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens sockets to checked addresses only."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: typing.Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        if not self._allow_private and not _is_open_port(port):
            raise DestinationError(f"Port {port} is not open to us.", retryable=False)
        fault: Exception = httpcore2.ConnectError(f"{host} has no address")
        addresses = await _resolve(host, port, timeout)
        allowed = [address for address in addresses if self._allow_private or is_public(address)]
        if addresses and not allowed:
            raise DestinationError(_PRIVATE, retryable=False)
        for address in allowed:
            try:
                connection = self._inner.connect_tcp(str(address), port, timeout, local_address, socket_options)
                return HeadLimited(await connection)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                fault = error
        raise fault

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: typing.Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise DestinationError("Sockets of this machine are not open to callers.", retryable=False)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class HeadLimited(httpcore2.AsyncNetworkStream):
    """A connection that limits the bytes received before the headers of a response are complete."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self._head: int | None = None  # bytes received of a response with incomplete headers

    def answered(self) -> None:
        """Note that the headers are complete: the body has limits of its own."""
        self._head = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._head is None:
            return await self._inner.read(max_bytes, timeout)
        data = await self._inner.read(min(max_bytes, HEAD_STEP_BYTES), timeout)
        self._head += len(data)
        if self._head > MOST_HEAD_BYTES:
            sentence = f"The address sends more than {MOST_HEAD_BYTES:,} bytes before its answer begins."
            raise DestinationError(sentence, retryable=False)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._head = self._head or 0
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return HeadLimited(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> typing.Any:
        return self._inner.get_extra_info(info)


async def _resolve(host: str, port: int, timeout_s: float | None, share: LookupShare | None = None) -> list[Address]:
    try:
        return await addresses_of(host, port, timeout_s, share)
    except TimeoutError:
        raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from None
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(f"{host} was not resolved: {error}") from None


class _GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's own transport, on a pool whose sockets the guard opens."""

    def __init__(self, *, allow_private: bool) -> None:
        super().__init__(verify=_trusted(), trust_env=False)
        # httpx2 has no argument for the backend; a test proves that this is where sockets are opened.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trusted(),
            max_connections=100,
            max_keepalive_connections=20,
            network_backend=_GuardedBackend(allow_private=allow_private),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if isinstance(stream := response.extensions.get("network_stream"), HeadLimited):
            stream.answered()
        return response


@cache
def _trusted() -> ssl.SSLContext:
    """Return the TLS context. Loaded once: that takes 20 ms of a core, and a client is made per file."""
    return httpx2.create_ssl_context(trust_env=False)
