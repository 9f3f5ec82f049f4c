"""Read vendors' JSON in little memory: a long array of objects stays text, and each object is parsed on access.

The words of four hours take four times as much memory as dictionaries than as text, and one answer has up to three
such lists.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # typeshed does not know it
from typing import Any, overload

from sederunt import foreign_json

LONG = 64  # arrays with more items are long

_SPACE = re.compile(r"[ \t\n\r]*")

Scan = Callable[[str, int], tuple[Any, int]]


class LongArray(Sequence[Any]):
    """The items of an array, parsed from its text on each access."""

    def __init__(self, text: str, starts: array[int]) -> None:
        self._text, self._starts = text, starts

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Any]:
        return (_whole(self._text, start)[0] for start in self._starts)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> LongArray: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return LongArray(self._text, self._starts[index])
        return _whole(self._text, self._starts[index])[0]


def loads(text: str) -> Any:
    """Return the values of JSON: long arrays of objects as LongArray, the rest as `json.loads`. Raises ValueError."""
    return foreign_json.read(text, decoder=_Decoder)


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__()
        self.parse_array = self._array
        self.scan_once = py_make_scanner(self)  # the C scanner ignores `parse_array`

    def _array(self, place: tuple[str, int], scan: Scan) -> tuple[Sequence[Any], int]:
        """Read an array after its bracket. Only its first items are searched for long arrays: the others are alike."""
        text, at = place
        starts, items = array("Q"), list[Any]()
        at = _behind_space(text, at)
        if text[at : at + 1] == "]":
            return items, at + 1
        while True:
            starts.append(at)
            try:
                item, at = (scan if len(starts) <= LONG else _whole)(text, at)
            except StopIteration as error:
                raise json.JSONDecodeError("Expecting value", text, error.value) from None
            if len(starts) <= LONG:
                items.append(item)
            at = _behind_space(text, at)
            if text[at : at + 1] != ",":
                break
            at = _behind_space(text, at + 1)
        if text[at : at + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        if len(starts) <= LONG:
            return items, at + 1
        long_array = LongArray(text, starts)
        return (long_array if all(text[start] == "{" for start in starts) else list(long_array)), at + 1


def _behind_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


_whole: Scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
