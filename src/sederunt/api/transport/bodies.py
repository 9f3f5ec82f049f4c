"""Read JSON bodies: counted while they stream in, and never answered with 500, whatever they contain."""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from starlette.requests import Request

from sederunt import foreign_json
from sederunt.errors import InvalidConfig, TooLarge

# Parsing fields and elements blocks all callers: a body of 12 MB took two seconds. A day of speech as a comparison's
# reference has some 20,000 commas.
MOST_COMMAS = 50_000
_NOT_JSON = "The body is not valid JSON."
_FORM = "application/x-www-form-urlencoded"  # sent by curl and others by default


async def json_body(
    request: Request, most_bytes: int, before_reading: Callable[[int], Awaitable[None]] | None = None
) -> Any:
    """Return the parsed body, whatever its Content-Type says. Raises TooLarge, InvalidConfig.

    Args:
        before_reading: gets the number of bytes, and returns when they may be parsed.
    """
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise InvalidConfig({"body": [f"The body must not be compressed (Content-Encoding: {coding[:40]})."]})
    body = await whole_body(request, most_bytes)
    if before_reading is not None:
        await before_reading(len(body))
    try:
        return parse_json(body)
    except InvalidConfig as error:
        if body.strip() and request.headers.get("content-type", "").startswith(_FORM):
            sentence = f"{error} Send a JSON object instead of a form ({_FORM})."
            raise InvalidConfig({"body": [sentence]}) from None
        raise


async def whole_body(request: Request, most_bytes: int) -> bytes:
    """Return the body of at most `most_bytes`. Raises TooLarge as soon as there are more."""
    refuse_declared(request, most_bytes)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise too_large(most_bytes)
    return bytes(body)


def refuse_declared(request: Request, most_bytes: int) -> None:
    """Raise TooLarge, before anything is read, if Content-Length exceeds the limit."""
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > most_bytes:
        raise too_large(most_bytes)


def too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"The body is too large: at most {most_bytes:,} bytes are taken here.")


def parse_json(body: bytes) -> Any:
    """Return the value. NaN, Infinity, endless nesting and numbers of thousands of digits are refused."""
    if not body.strip():
        raise InvalidConfig({"body": ["The body is empty; a JSON object was expected."]})
    refuse_parts(body)
    try:
        return foreign_json.read(body, parse_constant=_refuse, keeps_halves=True)
    except ValueError:  # covers bad UTF-8 and integers too long to read
        raise InvalidConfig({"body": [_NOT_JSON]}) from None


def refuse_parts(body: bytes, most: int = MOST_COMMAS) -> None:
    """Raise InvalidConfig for a body of too many parts, before it is parsed."""
    if body.count(b",") > most:
        raise InvalidConfig({"body": [f"The body has too many parts: more than {most:,} commas."]})


def _refuse(_name: str) -> NoReturn:
    raise ValueError
