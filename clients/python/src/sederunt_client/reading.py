"""Turns parsed JSON into the records of `models`.

What is not known is left out, since a newer service may tell more; what is missing is None, empty, or an error.
"""

import collections.abc
import dataclasses
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]

_RENAMED = {"from_": "from"}


def read(kind: type[T], value: Any) -> T:
    """Return the value as `kind`: a record, a tuple of them, or a plain value. Raises ValueError, TypeError."""
    found: T = _reader(kind)(value)  # type: ignore[arg-type]  # a type is hashable
    return found


@cache
def _reader(kind: Any) -> Reader:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = _reader(next(each for each in get_args(kind) if each is not type(None)))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        item = _reader(get_args(kind)[0])
        return lambda value: tuple(map(item, value))
    if origin in (dict, Mapping, collections.abc.Mapping):
        each = _reader(get_args(kind)[1])
        return lambda value: {name: each(inside) for name, inside in value.items()}
    if origin is Literal or kind is Any:
        return _as_it_is  # a word that we do not know yet is no reason to fail
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    return _PLAIN.get(kind, _as_it_is)


def _record_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    fields = [(field.name, _RENAMED.get(field.name, field.name), field) for field in dataclasses.fields(kind)]

    def record(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"{kind.__name__} must be an object")
        found = {}
        for name, sent, field in fields:
            if sent in value:
                found[name] = _reader(hints[name])(value[sent])
            elif field.default is dataclasses.MISSING:
                found[name] = _absent(kind.__name__, name, hints[name])
        return kind(**found)

    return record


def _absent(record: str, name: str, kind: Any) -> Any:
    """Return what stands for a field that an older service does not tell."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType) and type(None) in get_args(kind):
        return None
    if origin is tuple:
        return ()
    if origin in (dict, Mapping, collections.abc.Mapping):
        return {}
    if kind is bool:
        return False
    raise ValueError(f"{record} lacks '{name}'")


def _moment(value: str) -> datetime:
    return datetime.fromisoformat(value.replace("Z", "+00:00"))


def _as_it_is(value: Any) -> Any:
    return value


_PLAIN: Mapping[Any, Reader] = {datetime: _moment, float: float, int: int}
