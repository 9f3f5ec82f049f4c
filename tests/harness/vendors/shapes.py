"""What a vendor takes, as data: shapes of JSON, of queries and of forms. What is not in a shape is refused.

A shape is a type, a set of values, a regular expression, `[shape]`, `{name: shape}`, or a tuple of alternatives.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Shape = Any

TEXT, BOOL, INT = str, bool, int
NUMBER = (int, float)
ANY = object
FLAG = re.compile("true|false", re.IGNORECASE)  # of a query
WHOLE = re.compile(r"\d+")
DECIMAL = re.compile(r"\d+(\.\d+)?")
LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")


class Refusal(Exception):
    """An answer other than the one that was asked for."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        headers: Mapping[str, str] | None = None,
        told: bool = False,  # by a fault: nothing was wrong with the request
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.told = status, message, code, told
        self.headers = dict(headers or {})


def check(value: Any, shape: Shape, where: str = "body", *, status: int = 400) -> None:
    """Raises Refusal with the place at which a value has not this shape."""
    if fault := _fault(value, shape, where):
        raise Refusal(status, fault, code="invalid_request")


def check_query(
    pairs: Iterable[tuple[str, str]],
    shapes: Mapping[str, Shape],
    *,
    repeated: Iterable[str] = (),
    required: Iterable[str] = (),
    status: int = 400,
) -> dict[str, str]:
    """The query or form as a dictionary, repeated ones with their last value. Raises Refusal."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in shapes:
            raise Refusal(status, f"Unknown parameter: {name}", code="invalid_request")
        if name in found and name not in set(repeated):
            raise Refusal(status, f"Parameter given twice: {name}", code="invalid_request")
        check(value, shapes[name], name, status=status)
        found[name] = value
    if missing := [name for name in required if name not in found]:
        raise Refusal(status, f"Missing: {', '.join(missing)}", code="invalid_request")
    return found


def _fault(value: Any, shape: Shape, where: str) -> str | None:
    if isinstance(shape, tuple):
        faults = [_fault(value, each, where) for each in shape]
        return None if None in faults else faults[-1]
    if isinstance(shape, dict):
        return _object_fault(value, shape, where)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{where}: expected a list, got {type(value).__name__}"
        return next(
            (fault for place, item in enumerate(value) if (fault := _fault(item, shape[0], f"{where}[{place}]"))), None
        )
    return _value_fault(value, shape, where)


def _object_fault(value: Any, shape: Mapping[str, Shape], where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where}: expected an object, got {type(value).__name__}"
    if unknown := sorted(set(value) - set(shape)):
        return f"{where}: unknown field {', '.join(unknown)}"
    return next(
        (fault for name, item in value.items() if (fault := _fault(item, shape[name], f"{where}.{name}"))), None
    )


def _value_fault(value: Any, shape: Shape, where: str) -> str | None:
    if shape is None:
        return None if value is None else f"{where}: expected null"
    if isinstance(shape, re.Pattern):
        good = isinstance(value, str) and shape.fullmatch(value) is not None
        return None if good else f"{where}: {value!r} does not match {shape.pattern}"
    if isinstance(shape, frozenset | set):
        good = isinstance(value, str | int | bool) and value in shape
        return None if good else f"{where}: {value!r} is none of {', '.join(map(str, sorted(shape)))}"
    good = isinstance(value, shape) and (shape in (bool, object) or not isinstance(value, bool))
    return None if good else f"{where}: expected {shape.__name__}, got {type(value).__name__}"
