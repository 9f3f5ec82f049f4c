"""Finds the web addresses in a text: unwraps mail and redirect wrappers, drops noise, refuses second addresses."""

import base64
import binascii
import html
import re
from collections.abc import Iterator
from itertools import chain, islice
from urllib.parse import SplitResult, parse_qs, unquote, urlencode, urlsplit, urlunsplit

from sederunt.platforms.links import InvalidLink

LONGEST = 8192
_SCHEME = re.compile(r"https?:/{1,2}", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>“”\\]+", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w@./%-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/[^\s<>“”\\]*", re.IGNORECASE)
_TRAILING = ".,;:!?'’\")]}>*|`~»…、。，；！？）】」』"
_ENTITY = re.compile(r"&#?\w{1,8};")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_ONE_ADDRESS = "expected one meeting address, found several"

# Proofpoint URL Defense. Version 2 writes "-" for "%" and "_" for "/"; version 3 writes "*" for a character, and "**"
# with a letter for a run of them, and carries the characters, base64-encoded, behind the address.
_PROOFPOINT = re.compile(r"urldefense(?:\.proofpoint)?\.(?:com|us)")
_PROOFPOINT_V3 = re.compile(r"/v3/__(.+?)__;([^!]*)!", re.DOTALL)
_REPLACED = re.compile(r"\*(\*[A-Za-z0-9_-])?")
_RUN_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"  # "A" is a run of two

# Wrappers that carry the real address in a parameter: (host, path, parameters).
_WRAPPERS = (
    (re.compile(r"(?:www\.)?google\.[a-z.]{2,6}"), re.compile(r"/url"), ("q", "url")),
    (re.compile(r"(?:[a-z0-9-]+\.)*safelinks\.protection\.outlook\.(?:com|us)"), re.compile(r".*"), ("url",)),
    (re.compile(r"statics\.teams\.(?:cdn\.office\.net|microsoft\.com)"), re.compile(r".*safelinks.*"), ("url",)),
)


def decoded(text: str) -> str:
    """Return the text percent-decoded until nothing changes."""
    for _ in range(6):
        unquoted = unquote(text)
        if unquoted == text:
            break
        text = unquoted
    return text


def the_address(text: str, expected: str) -> SplitResult:
    """Return the only web address in a text, scheme https, its host in lower case and without "www.".

    `expected` ends the sentence of an InvalidLink. The parts are as written, percent-encoding included.
    """
    text = _cleaned(text, expected)
    for _ in range(4):
        address = _single(text, expected)
        inner = _unwrapped(address)
        if inner is None:
            return address
        text = _cleaned(inner, expected)
    raise InvalidLink(f"The meeting_url is wrapped too often: {expected}.")


def addresses_in(text: str) -> Iterator[str]:
    """Yield the web addresses in a text without marks around them, then those without a scheme."""
    text = _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)
    without_scheme = (f"https://{match.group()}" for match in _BARE.finditer(_ADDRESS.sub(" ", text)))
    for address in chain((match.group() for match in _ADDRESS.finditer(text)), without_scheme):
        yield address.rstrip(_TRAILING)


def without_addresses(text: str) -> str:
    """Return the words of a text."""
    return _BARE.sub(" ", _ADDRESS.sub(" ", text)).replace("://", " ")


def refuse_second_address(address: SplitResult, expected: str) -> None:
    """Raise InvalidLink where path, query or fragment hide another address, plain, percent- or base64-encoded."""
    rest = decoded(f"{address.path}?{address.query}#{address.fragment}")
    if _SCHEME.search(rest) or any(_SCHEME.search(base64_text(token)) for token in _BASE64.findall(rest)):
        raise InvalidLink(f"The meeting_url hides a second address: {expected}.")


def base64_text(token: str) -> str:
    """Return a base64 token (either alphabet, padding optional) decoded as text; empty if it is not base64."""
    token = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def _cleaned(text: str, expected: str) -> str:
    text = re.sub(r"[\u200b-\u200d\u2060\ufeff]", "", text.replace("\xa0", " ")).strip()
    if not text or len(text) > LONGEST:
        raise InvalidLink(f"The meeting_url is {'too long' if text else 'empty'}: {expected}.")
    if "://" not in text and re.search(r"https?%(?:25)*3a", text, re.IGNORECASE):
        text = decoded(text)
    return text


def _single(text: str, expected: str) -> SplitResult:
    addresses = list(addresses_in(text))
    if with_scheme := [address for address in addresses if "://" in text and _ADDRESS.match(address)]:
        addresses = with_scheme
    if len(addresses) > 1:
        raise InvalidLink(f"The meeting_url is not clear: {_ONE_ADDRESS}; {expected}.")
    if not addresses:
        raise InvalidLink(f"The meeting_url holds no web address: {expected}.")
    try:
        address = urlsplit(addresses[0])
        host = (address.hostname or "").lower().removeprefix("www.")
    except ValueError:
        raise InvalidLink(f"The meeting_url is not a web address: {expected}.") from None
    if not host or "@" in address.netloc:
        raise InvalidLink(f"The meeting_url is not a plain web address: {expected}.")
    return address._replace(scheme="https", netloc=host)


def _unwrapped(address: SplitResult) -> str | None:
    if _PROOFPOINT.fullmatch(address.netloc):
        return _unwrapped_by_proofpoint(address)
    for host, path, parameters in _WRAPPERS:
        if host.fullmatch(address.netloc.removeprefix("www.")) and path.fullmatch(address.path):
            query = parse_qs(address.query)
            return next((query[name][0] for name in parameters if name in query), "")
    return None


def _unwrapped_by_proofpoint(address: SplitResult) -> str:
    if match := _PROOFPOINT_V3.match(urlunsplit(address._replace(scheme="", netloc=""))):
        wrapped, characters = match.group(1), iter(base64_text(match.group(2)))

        def original(placeholder: re.Match[str]) -> str:
            length = _RUN_LENGTHS.index(placeholder.group()[2]) + 2 if placeholder.group(1) else 1
            return "".join(islice(characters, length)) or placeholder.group()

        return _SCHEME.sub("https://", _REPLACED.sub(original, wrapped), count=1)
    wrapped = parse_qs(address.query).get("u", [""])[0]
    return unquote(wrapped.translate({ord("-"): "%", ord("_"): "/"})) if "/v2/" in address.path else wrapped


def with_parameter(url: str, name: str, value: str) -> str:
    """Return the address with one more parameter."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode({name: value})) if part)
    return urlunsplit(parts._replace(query=query))
