"""Vendors' JSON read in little memory: a long array of objects is kept as text, and each is read when it is asked for.

The words of four hours, as dictionaries, take four times what their text takes, and up to three such lists come in one
answer.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # typeshed does not know it
from typing import Any, overload

from sederunt import foreign_json

LONG = 64  # an array of so many items is no long one

_SPACE = re.compile(r"[ \t\n\r]*")

Scan = Callable[[str, int], tuple[Any, int]]


class LongArray(Sequence[Any]):
    """An array's items, read from its text each time that they are asked for."""

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
    """Return what JSON says, long arrays of objects as LongArray, all else as `json.loads` does. Raises ValueError."""
    return foreign_json.read(text, decoder=_Decoder)


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__()
        self.parse_array = self._array
        self.scan_once = py_make_scanner(self)  # the one in C reads arrays its own way

    def _array(self, place: tuple[str, int], scan: Scan) -> tuple[Sequence[Any], int]:
        """Read an array behind its bracket. Long ones are looked for in the first items alone: the others are alike."""
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
        found = LongArray(text, starts)
        return (found if all(text[start] == "{" for start in starts) else list(found)), at + 1


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


_whole: Scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
