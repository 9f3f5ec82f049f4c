"""One request of the client, apart from how it is sent: what goes out, how the answer is read, when to try again."""

import base64
import json
import random
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import IO, Any, Generic, TypeVar
from urllib.parse import quote

import httpx2

from sederunt_client.errors import ApiError, NotReached, UnexpectedAnswer
from sederunt_client.reading import read
from sederunt_client.uploads import Upload

T = TypeVar("T")

VERSION_PREFIX = "/api/v1"
LONGEST_PAUSE_S = 30.0
_FIRST_PAUSE_S = 0.5
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
PASSING = frozenset({429, 502, 503, 504})  # statuses of what is usually over soon


class Unset:
    """The type of UNSET."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()
"""An argument that was not given; None is a value of its own: it clears what is there."""


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given."""
    return {name: value for name, value in values.items() if not isinstance(value, Unset)}


def part(value: str) -> str:
    """Return one part of a path, whatever the caller took for an id."""
    return quote(str(value), safe="")


@dataclass(frozen=True)
class Request(Generic[T]):
    """What is asked, and of what type the answer is."""

    method: str
    path: str  # below the version prefix
    answer: type[T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    upload: Upload | None = None
    is_keyed: bool = False  # the service knows a repeat by its Idempotency-Key
    key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Return what goes with every try of this request: a fresh Idempotency-Key where it takes one."""
        key = {"Idempotency-Key": self.key or str(uuid.uuid4())} if self.is_keyed else {}
        return {"Content-Type": "application/json", **key} if self.json() is not None else key

    @property
    def may_repeat(self) -> bool:
        """Return whether a try whose answer was lost may be followed by another."""
        return (self.method in _REPEATABLE or self.is_keyed) and self.can_resend

    @property
    def can_resend(self) -> bool:
        """Return whether all of it could be sent once more."""
        return self.upload is None or self.upload.can_rewind

    def parameters(self) -> httpx2.QueryParams:
        """Return the query, a mapping as name[key]=value."""
        pairs: list[tuple[str, str | int | float | bool | None]] = []
        for name, value in self.query.items():
            if isinstance(value, Mapping):
                pairs += [(f"{name}[{key}]", _text(each)) for key, each in value.items()]
            elif value is not None:
                pairs.append((name, _text(value)))
        return httpx2.QueryParams(pairs)

    def json(self) -> bytes | None:
        """Return the JSON body; None where there is none, or where a file goes with it."""
        if self.body is None or self.upload is not None:
            return None
        return json.dumps(dict(self.body), default=_plain).encode()

    def form(self) -> dict[str, str | list[str]]:
        """Return the fields that go with a file; lists as repeated fields."""
        fields = {name: value for name, value in (self.body or {}).items() if value is not None}
        return {n: [_text(e) for e in v] if isinstance(v, (list, tuple)) else _text(v) for n, v in fields.items()}

    @contextmanager
    def files(self) -> Iterator[dict[str, tuple[str, IO[bytes]]]]:
        """Provide the files that go with it, from their beginning."""
        if self.upload is None:
            yield {}
            return
        with self.upload.opened() as form:
            yield form

    def read(self, outcome: "Outcome") -> T:
        """Return the answer. Raises ApiError by its status, NotReached, UnexpectedAnswer."""
        if outcome.status is None:
            raise NotReached(f"The service could not be reached: {outcome.error or 'no answer'}") from outcome.error
        if not 200 <= outcome.status < 300:
            raise ApiError.of(outcome.status, outcome.headers, outcome.body)
        if self.answer is str:
            return outcome.body.decode("utf-8", "replace")  # type: ignore[return-value]
        try:
            return read(self.answer, json.loads(outcome.body))
        except (ValueError, TypeError) as error:
            raise UnexpectedAnswer(f"{self.method} {self.path}: the answer is not what was expected: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one try."""

    status: int | None = None  # None: there was no answer
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    error: Exception | None = None
    was_sent: bool = True  # the service may have got it

    @classmethod
    def of_error(cls, error: httpx2.TransportError) -> "Outcome":
        """Return what it means that there was no answer."""
        never = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
        return cls(error=error, was_sent=not isinstance(error, never))


def pause_after(outcome: Outcome, attempt: int, *, may_repeat: bool, can_resend: bool = True) -> float | None:
    """Return the seconds to wait before the next try; None where there is to be none.

    Args:
        outcome: of the last try.
        attempt: how many tries there were, from 1.
        may_repeat: whether the request does nothing twice.
        can_resend: whether all of it could be sent once more.
    """
    if outcome.status is None:
        if outcome.was_sent and not may_repeat:
            return None
    elif outcome.status not in PASSING or not (can_resend if outcome.status == 429 else may_repeat):
        return None
    after = outcome.headers.get("retry-after", "").strip()
    return told_pause(float(after)) if after.isdecimal() else growing_pause(attempt)


def told_pause(seconds: float) -> float:
    """Return the seconds to wait where the service told how many: not fewer, and not the same for all callers."""
    return min(seconds, LONGEST_PAUSE_S) * random.uniform(1, 1.5)  # noqa: S311  # keeps no secret


def growing_pause(attempt: int) -> float:
    """Return the seconds to wait after so many tries: twice as long each time, and not the same for all callers."""
    longest: float = min(_FIRST_PAUSE_S * 2 ** min(attempt - 1, 10), LONGEST_PAUSE_S)
    return longest * random.uniform(0.5, 1)  # noqa: S311  # keeps no secret


def base_of(url: str) -> str:
    """Return the address below which the routes are, for the service's with or without the version prefix."""
    url = url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"The service's address must begin with http:// or https://, not '{url[:40]}'.")
    return url if url.endswith(VERSION_PREFIX) else url + VERSION_PREFIX


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    plain = value if isinstance(value, (str, int, float)) else _plain(value)
    return str(plain)


def _plain(value: object) -> object:
    """Return what JSON has a word for: moments as Unix seconds, days as YYYY-MM-DD, bytes in base64."""
    if isinstance(value, datetime):
        return int((value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be sent to the service")
