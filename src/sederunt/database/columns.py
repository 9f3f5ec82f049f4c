"""Column types that behave alike in both engines: moments, documents, rising ids."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator

from sederunt import foreign_json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# SQLite counts up by itself only in a column declared INTEGER.
RISING = BigInteger().with_variant(Integer, "sqlite")


def microseconds(moment: datetime) -> int:
    """Return Unix microseconds of an aware datetime, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(value: int) -> datetime:
    """Return the UTC datetime of Unix microseconds, exactly."""
    return _EPOCH + timedelta(microseconds=value)


def document_text(value: Any) -> str:
    """Return JSON in ASCII: both engines can store every string a caller sends in it, including lone surrogates and
    NUL.
    """
    return json.dumps(value, separators=(",", ":"), default=str)


def storable(text: str) -> str:
    """Return text that a text column accepts: PostgreSQL refuses NUL, both engines refuse lone surrogates."""
    return foreign_json.whole(text).replace("\x00", "")


class Moment(TypeDecorator[datetime]):
    """An aware datetime as Unix microseconds: exact, sorted and alike in SQLite and PostgreSQL."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else moment_of(value)


class Document(TypeDecorator[Any]):
    """A JSON value as text. Nothing searches inside it; searchable values have columns."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else document_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)
