"""The guard for callers' addresses: what is let through, what is not, and where the check is made."""

import asyncio
import gzip
from ipaddress import ip_address
from types import SimpleNamespace

import httpcore2
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.file_server import file_server
from sederunt.addresses import guarded_client, is_public, opened, refusal
from sederunt.errors import DestinationError

# Each of these leads into a private network or nowhere, and some are "global" by the standard library's word.
CLOSED = (
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "::1",
    "::",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:53aa:64c:0:0:80ff:fffe",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "5f00::1",
)
OPEN = ("8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:80e::200e", "::ffff:8.8.8.8")

# Spellings that only a resolver turns into an address.
SPELLINGS = ("2130706433", "0x7f.1", "127.1", "localhost", "LOCALHOST")


@pytest.mark.parametrize("text", CLOSED)
def test_an_address_that_is_not_global_unicast_is_closed(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", OPEN)
def test_a_global_unicast_address_is_open(text: str) -> None:
    assert is_public(ip_address(text))


def test_public_addresses_of_this_machine_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {text: SimpleNamespace(address=text) for text in ("93.184.216.34", "2a00:1450:4001:80e::200e")}
    interfaces = {"lo": [], "eth0": list(own.values())}
    monkeypatch.setattr("psutil.net_if_addrs", lambda: interfaces)
    for text in (*own, "::ffff:93.184.216.34", "2A00:1450:4001:080e:0::200e"):
        assert not is_public(ip_address(text))
    assert refusal("https://93.184.216.34/") == refusal("https://127.0.0.1/")
    assert refusal("https://[2a00:1450:4001:80e::200e]:8080/", allow_private=True) is None
    assert is_public(ip_address("8.8.8.8"))
    interfaces["eth1"] = [SimpleNamespace(address="8.8.8.8")]  # one that came later
    assert not is_public(ip_address("8.8.8.8"))


@given(st.ip_addresses(v=4))
def test_wrapping_never_opens_a_closed_address(address: object) -> None:
    number = int(address)  # type: ignore[call-overload]
    wrapped = [
        ip_address((0xFFFF << 32) + number),
        ip_address(0x64FF9B << 96 | number),
        ip_address(0x2002 << 112 | number << 80),
        ip_address(number | 1 << 33),
    ]
    if not is_public(ip_address(number)):
        assert not any(is_public(each) for each in wrapped)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/x",
        "file:///etc/passwd",
        "//example.com",
        "https://",
        "http://[::1]/",
        "http://[v1.a]/",
        "http://xn--ß/",
        "http://①.example/",
        "http://127.0.0.1:8000/",
        "http://localhost:4000/hook",
        "http://a.localhost/",
        "http://example.com:25/",
        "http://example.com:6553500/",
        "http://[fe80::1%25eth0]/",
    ],
)
def test_an_address_is_refused_by_its_looks(url: str) -> None:
    sentence = refusal(url)
    assert sentence is not None
    assert sentence.endswith(".")


@pytest.mark.parametrize("url", ["https://example.com/hook?a=b", "http://example.com:8080/", "https://8.8.8.8/"])
def test_an_ordinary_address_is_not_refused(url: str) -> None:
    assert refusal(url) is None


def test_private_addresses_can_be_allowed() -> None:
    assert refusal("http://127.0.0.1:80/", allow_private=True) is None
    assert refusal("ftp://127.0.0.1/", allow_private=True) is not None
    assert refusal("http://127.0.0.1:0/", allow_private=True) is not None


@pytest.mark.parametrize("host", [*SPELLINGS, "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"])
async def test_no_socket_is_opened_to_an_address_that_is_closed(host: str) -> None:
    async with guarded_client(allow_private=False, timeout_s=5) as client:
        with pytest.raises(DestinationError) as caught:
            await client.get(f"http://{host}/")
    assert not caught.value.retryable


async def test_an_octal_spelling_is_no_host_at_all() -> None:
    async with guarded_client(allow_private=False, timeout_s=5) as client:
        with pytest.raises((httpx2.InvalidURL, DestinationError)):
            await client.get("http://0177.0.0.1/")


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://93.184.216.34:3128")
    async with guarded_client(allow_private=False, timeout_s=5) as client:
        with pytest.raises(DestinationError):
            await client.get("http://127.0.0.1/")


async def test_a_packed_body_is_not_unpacked() -> None:
    """A few kilobytes may hold gigabytes: what comes packed, though nobody asked for that, is refused."""
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    with file_server() as files:
        url = files.give("/avatar.png", bomb, 200, **{"Content-Encoding": "gzip, gzip"})
        async with guarded_client(allow_private=True, timeout_s=5) as client:
            with pytest.raises(DestinationError, match="'gzip, gzip'") as caught:
                async with opened(client, url, allow_private=True):
                    raise AssertionError
            assert client.headers["accept-encoding"] == "identity"
    assert not caught.value.retryable


async def test_no_cookie_of_one_address_comes_to_another() -> None:
    with file_server() as files:
        files.give("/", b"", 200, **{"Set-Cookie": "session=theirs; Path=/"})
        async with guarded_client(allow_private=True, timeout_s=5) as client:
            await client.get(files.url + "/")
            again = await client.get(files.url + "/")
    assert "cookie" not in again.request.headers
    assert not client.cookies


class ScriptedStream(httpcore2.AsyncNetworkStream):
    """A connection that answers with one text again and again."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return (self._text * (max_bytes // len(self._text) + 1))[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("text", [b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: " + b"y" * 4_000])
async def test_an_answer_that_does_not_begin_within_some_kilobytes_is_given_up(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that sent preliminary answers for its ten seconds kept the worker's loop from everything else."""

    async def connect(*_: object) -> ScriptedStream:
        return ScriptedStream(text)

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    async with guarded_client(allow_private=True, timeout_s=60) as client:
        with pytest.raises(DestinationError, match="before its answer begins") as caught:
            async with asyncio.timeout(60):
                await client.post("http://127.0.0.1:9/", content=b"{}")
    assert not caught.value.retryable


async def test_a_body_may_be_as_long_as_it_likes_for_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(*_: object) -> ScriptedStream:
        return ScriptedStream(b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"x" * 300_000)

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    async with guarded_client(allow_private=True, timeout_s=60) as client:
        answer = await client.get("http://127.0.0.1:9/")
    assert len(answer.content) == 200_000
