"""Unwrap RTP counters, and put frames back in sending order."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

WINDOW_MS = 200.0  # how long to wait for a missing frame, from the first frame after the gap
MISORDER = 100  # RFC 3550, A.1: a frame further back is not late: its sender restarted
KEPT_GAPS = 1_000  # abandoned sequence numbers remembered, to tell late frames from repeated ones

Item = TypeVar("Item")


def unwrap(value: int, near: int, bits: int) -> int:
    """Return the number congruent to `value` modulo 2^bits that is nearest to `near`."""
    half = 1 << (bits - 1)
    return near + ((value - near + half) & ((1 << bits) - 1)) - half


@dataclass(slots=True)
class Counts:
    """What happened to the frames of a recording."""

    packets: int = 0  # placed in the recording, including recovered ones
    lost: int = 0  # gaps in the sequence that stayed empty
    recovered: int = 0  # gaps filled from the redundancy of later frames
    reordered: int = 0  # arrived after a later one, within the window
    late: int = 0  # arrived after their place was given up
    duplicates: int = 0
    empty: int = 0  # frames without content: the sender's padding
    damaged: int = 0  # not an Opus packet or RED envelope
    restarts: int = 0  # senders that restarted their sequence
    anchored_again: int = 0  # jumps of a sender's clock against ours
    early: int = 0  # before the recording's zero
    twins: int = 0  # repeats of another track's packets


class Reorder(Generic[Item]):
    """Puts one sender's frames in sequence. Waits for a gap to fill, then reports the number of missing frames.

    The first frames are held for one window too: until then it is unknown which is the first.
    """

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._waiting: dict[int, tuple[float, Item]] = {}
        self._given_up: OrderedDict[int, None] = OrderedDict()
        self._next: int | None = None  # None until the first window is over
        self._lowest = 0  # the first one that was released
        self._newest = 0  # highest sequence seen, unwrapped
        self._seen_any = False
        self._stray: tuple[int, float, Item] | None = None  # far out of order: the first sign of a restart

    def put(self, sequence: int, at_ms: float, item: Item) -> Sequence[tuple[int, Item]]:
        """Take a frame; returns (number missing before it, frame) for the frames released now, in order."""
        if not self._seen_any:
            self._seen_any, self._newest = True, sequence
        number = unwrap(sequence, self._newest, 16)
        if number == self._next and not self._waiting:
            self._newest, self._next = number, number + 1
            return ((0, item),)
        if number < self._newest - MISORDER:
            return self._stray_came(number, at_ms, item)
        self._keep(number, at_ms, item)
        return self.ready(at_ms)

    def ready(self, now_ms: float) -> list[tuple[int, Item]]:
        """Return the frames to release at this time: those in sequence, and those that have waited long enough."""
        released: list[tuple[int, Item]] = []
        while self._waiting:
            entry = None if self._next is None else self._waiting.pop(self._next, None)
            missing = 0
            if entry is None:
                if now_ms - min(at_ms for at_ms, _ in self._waiting.values()) < WINDOW_MS:
                    break
                missing = self._skip_gap()
                entry = self._waiting.pop(self._first())
            released.append((missing, entry[1]))
            self._next = self._first() + 1
        return released

    def drain(self) -> list[tuple[int, Item]]:
        """Return everything held, without further waiting."""
        return self.ready(float("inf"))

    @property
    def holds_any(self) -> bool:
        return bool(self._waiting)

    def _first(self) -> int:
        assert self._next is not None
        return self._next

    def _skip_gap(self) -> int:
        """Move on to the first waiting frame; returns how many are missing before it."""
        lowest = min(self._waiting)
        if self._next is None:
            self._lowest = self._next = lowest
        missing = lowest - self._next
        for number in range(lowest - min(missing, KEPT_GAPS), lowest):
            self._given_up[number] = None
        while len(self._given_up) > KEPT_GAPS:
            self._given_up.popitem(last=False)
        self._next = lowest
        return missing

    def _keep(self, number: int, at_ms: float, item: Item) -> None:
        if number in self._waiting:
            self._counts.duplicates += 1
        elif self._next is not None and number < self._next:
            if number in self._given_up or number < self._lowest:
                self._given_up.pop(number, None)
                self._counts.late += 1
            else:
                self._counts.duplicates += 1
        else:
            if number < self._newest:
                self._counts.reordered += 1
            self._newest = max(self._newest, number)
            self._waiting[number] = (at_ms, item)

    def _stray_came(self, number: int, at_ms: float, item: Item) -> Sequence[tuple[int, Item]]:
        """Judge a frame from far back: a single one is late; two in a row mean that the sender restarted."""
        if self._stray is None or number != self._stray[0] + 1:
            self._stray = (number, at_ms, item)
            self._counts.late += 1
            return ()
        released = self.drain()
        first_number, first_at_ms, first_item = self._stray
        self._counts.late -= 1
        self._counts.restarts += 1
        self._stray, self._given_up, self._next, self._newest = None, OrderedDict(), None, number
        self._waiting = {first_number: (first_at_ms, first_item), number: (at_ms, item)}
        return released
