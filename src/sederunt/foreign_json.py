"""Parse JSON from outside (a caller, a page, a link, a vendor): every fault is a ValueError.

For some kilobytes of brackets Python raises RecursionError, which is no ValueError and is easily forgotten. And a JSON
string can hold half of a surrogate pair, such as from a page that cut a name in the middle of an emoji; UTF-8 cannot.
"""

import json
import re
from collections.abc import Callable
from typing import Any

# An escape of either surrogate, also of whole pairs; and surrogates as Python reads them from broken UTF-8.
_MAY_BE_HALF, _MAY_BE_HALF_BYTES = (
    re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]"),
    re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]"),
)


def read(
    text: str | bytes | bytearray,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    decoder: type[json.JSONDecoder] | None = None,
    keeps_halves: bool = False,
) -> Any:
    """Return the value. Raises ValueError if the text is no JSON, is not UTF-8, or is nested too deeply.

    Args:
        parse_constant: called for NaN and the infinities, which are accepted otherwise.
        decoder: used instead of the standard one; handles lone surrogates itself.
        keeps_halves: keeps lone surrogates, for code that reports them to its caller.
    """
    try:
        value = json.loads(text, cls=decoder, parse_constant=parse_constant)
        if keeps_halves or decoder is not None:
            return value
        may_be_half = _MAY_BE_HALF.search(text) if isinstance(text, str) else _MAY_BE_HALF_BYTES.search(text)
        return _whole(value) if may_be_half else value
    except RecursionError:
        raise ValueError("nested too deeply") from None


def whole(text: str) -> str:
    """Return a text that UTF-8 can carry: with a question mark for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(name): _whole(item) for name, item in value.items()}
    return value
