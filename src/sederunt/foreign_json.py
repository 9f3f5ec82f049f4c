"""JSON that somebody else wrote: a caller, a page, a link, a vendor. It is read, or it is a ValueError.

Some kilobytes of brackets are no JSON that anybody means. Python reads them as far as its stack goes and then raises
RecursionError, which is no ValueError and was forgotten wherever it was not thought of. And a JSON string can hold half
of a character, as a page writes it that cut a name in the middle of an emoji; no UTF-8 can.
"""

import json
import re
from collections.abc import Callable
from typing import Any

# An escape of either half, whole characters' included; and the halves as Python reads them from broken UTF-8.
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
    """Return the value. Raises ValueError for what is none, is not UTF-8, or is nested beyond all use.

    Args:
        parse_constant: takes NaN and the infinities, which are let through otherwise.
        decoder: makes of it what the standard one does not; sees to halves of characters itself.
        keeps_halves: leaves halves of characters as they are, for a caller is told of them.
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
    """Return a text as UTF-8 can carry it: a question mark for half of a character."""
    return text.encode("utf-8", "replace").decode()


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(name): _whole(item) for name, item in value.items()}
    return value
