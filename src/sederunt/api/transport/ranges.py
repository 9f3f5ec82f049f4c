"""The Range header of a request for a file. Pure functions."""

import re
from dataclasses import dataclass

_ONE = re.compile(r"\s*bytes\s*=\s*([0-9]*)\s*-\s*([0-9]*)\s*", re.IGNORECASE)
_DIGITS = 18  # no file has so many bytes


class Unsatisfiable(Exception):
    """The range begins behind the end of the file."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes from `start` up to, not including, `end`."""

    start: int
    end: int

    def header(self, size: int) -> str:
        """Return the value of the Content-Range header."""
        return f"bytes {self.start}-{self.end - 1}/{size}"


def requested_span(header: str | None, size: int) -> ByteRange | None:
    """Return the one range that a header requests, limited to the file. None: answer with the whole file.

    Several ranges at once, other units and malformed headers may be ignored (RFC 9110, 14.2), and are.
    Raises Unsatisfiable.
    """
    match = _ONE.fullmatch(header) if header else None
    if match is None or match[1] == match[2] == "":
        return None
    if match[1] == "":
        count = _number(match[2])
        if count == 0 or size == 0:
            raise Unsatisfiable
        return ByteRange(max(0, size - count), size)
    start = _number(match[1])
    end = _number(match[2]) + 1 if match[2] else None
    if end is not None and end <= start:
        return None
    if start >= size:
        raise Unsatisfiable
    return ByteRange(start, size if end is None else min(end, size))


def _number(digits: str) -> int:
    """Return a position or a count. Numbers beyond the size of any file are capped."""
    significant_digits = digits.lstrip("0") or "0"
    return int(significant_digits) if len(significant_digits) <= _DIGITS else 10**_DIGITS
