"""What a simulated vendor has counted: requests, jobs that it bills, sound that it received, what it still keeps."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(kw_only=True)
class Request:
    """One HTTP request as it came."""

    operation: str
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    size: int
    fields: Any = None  # the JSON, or the fields of a form
    status: int = 0  # what it was answered; 0 where the connection was dropped
    refusal: str = ""  # what was wrong with it
    at: float = 0.0  # monotonic seconds


@dataclass(kw_only=True)
class Bill:
    """A job that somebody has to pay."""

    id: str
    seconds: float
    reference: str | None = None  # the client's own, where the vendor takes one


@dataclass(kw_only=True)
class Stream:
    """One live connection."""

    number: int
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    pcm: bytearray = field(default_factory=bytearray)
    frames: list[int] = field(default_factory=list)  # bytes of each
    received: list[Any] = field(default_factory=list)  # text messages
    sent: list[Any] = field(default_factory=list)
    close_code: int | None = None
    refusal: str = ""
    is_open: bool = True
    id: str = ""

    @property
    def seconds(self) -> float:
        return len(self.pcm) / 32_000


@dataclass
class Ledger:
    """Counts. Written by the vendor's thread, read by tests; `wait` blocks until something holds."""

    requests: list[Request] = field(default_factory=list)
    billed: list[Bill] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)  # ids of uploads, jobs and transcripts that were not deleted
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def of(self, operation: str) -> list[Request]:
        return [request for request in self.requests if request.operation == operation]

    @property
    def refusals(self) -> list[str]:
        """What was wrong with requests and streams: of a good adapter, nothing."""
        said = [request.refusal for request in self.requests] + [stream.refusal for stream in self.streams]
        return [refusal for refusal in said if refusal]

    @property
    def seconds_billed(self) -> float:
        return sum(bill.seconds for bill in self.billed)

    def note(self) -> None:
        """Something changed."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, found: Callable[["Ledger"], T], timeout_s: float = 60) -> T:
        """Block until this is true of the ledger; returns its answer. AssertionError after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not (answer := found(self)):
                if not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"waited {timeout_s} s; {self.summary()}")
            return answer

    def clear(self) -> None:
        for rows in (self.requests, self.billed, self.streams, self.deleted, self.kept):
            rows.clear()

    def summary(self) -> dict[str, Any]:
        """The counts as plain values."""
        operations: dict[str, int] = {}
        for request in self.requests:
            operations[request.operation] = operations.get(request.operation, 0) + 1
        return {
            "requests": operations,
            "answers": [[request.operation, request.status] for request in self.requests],
            "billed": [vars(bill) for bill in self.billed],
            "deleted": self.deleted,
            "kept": sorted(self.kept),
            "refusals": self.refusals,
            "streams": [
                {
                    "number": stream.number,
                    "id": stream.id,
                    "query": stream.query,
                    "seconds": stream.seconds,
                    "is_open": stream.is_open,
                    "close_code": stream.close_code,
                    "received": stream.received,
                }
                for stream in self.streams
            ],
        }
