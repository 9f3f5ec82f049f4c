"""JSON that somebody else wrote: a caller, a page, a link, a vendor. It is read, or it is a ValueError.

Some kilobytes of brackets are no JSON that anybody means. Python reads them as far as its stack goes and then raises
RecursionError, which is no ValueError and was forgotten wherever it was not thought of.
"""

import json
from collections.abc import Callable
from typing import Any


def read(
    text: str | bytes | bytearray,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    decoder: type[json.JSONDecoder] | None = None,
) -> Any:
    """Return the value. Raises ValueError for what is none, is not UTF-8, or is nested beyond all use.

    Args:
        parse_constant: takes NaN and the infinities, which are let through otherwise.
        decoder: makes of it what the standard one does not.
    """
    try:
        return json.loads(text, cls=decoder, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
