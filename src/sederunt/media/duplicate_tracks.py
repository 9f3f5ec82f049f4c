"""Leave out tracks that repeat another's packets, after a page subscribed to somebody a second time.

An SFU forwards what a sender encoded, so the packets are identical. Kept twice, a sentence is transcribed twice and
is too loud in the mix. While two tracks are alike, packets of the later one are left out if the earlier one brought
them as well. Any other packet waits a moment for its counterpart, and is kept if none comes.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

ALIKE = 5  # packets on both tracks that make them twins: a tenth of a second
ALONE = 25  # packets on the later track alone that end this
LEAST_BYTES = 16  # silence is the same everywhere
WITHIN_MS = 200.0  # how far apart the same packet may be on two tracks
LONGEST_PACKET_MS = 120.0  # of Opus
GOES_ON_MS = 1000.0  # a track without packets for this long has paused or ended; pages deliver in batches

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _HeldPacket(Generic[T]):
    item: T
    told: bytes | None  # the packet, if it identifies its sender
    at_ms: float
    until_ms: float


@dataclass(slots=True)
class _Twin(Generic[T]):
    """The later of two tracks."""

    first: int  # the earlier one
    alike: int = 0  # packets that came on both
    alone: int = 0  # … and those since then that came on this one alone
    held: deque[_HeldPacket[T]] = field(default_factory=deque)  # in order, all without a counterpart so far


class DuplicateTracks(Generic[T]):
    """Remembers recent packets, and which tracks are alike. `left_out` counts the packets left out."""

    def __init__(self) -> None:
        self._recent: OrderedDict[bytes, tuple[int, float]] = OrderedDict()  # packet → (track, Unix milliseconds)
        self._last: OrderedDict[int, tuple[bytes, float]] = OrderedDict()  # track → its latest packet, and its place
        self._twins: dict[int, _Twin[T]] = {}
        self.left_out = 0

    @property
    def holds_any(self) -> bool:
        return any(twin.held for twin in self._twins.values())

    def sift(self, track: int, payload: bytes, item: T, *, at_ms: float, now_ms: float) -> list[T]:
        """Take a packet in its track's order; return the items to keep now: this one, or some held before.

        Args:
            item: represents the packet.
            at_ms: where it was placed.
            now_ms: when it came.
        """
        self._forget(at_ms)
        telling_payload = payload if self._tells(track, payload, at_ms) else None
        other_track = None if telling_payload is None else self._counterpart(track, telling_payload, at_ms)
        if other_track is not None:
            later = self._twins.setdefault(max(track, other_track), _Twin(min(track, other_track)))
            later.alike, later.alone = later.alike + 1, 0
            if other_track > track:
                self._drop(later, payload)
        twin = self._twins.get(track)
        if twin is None:
            return [item]
        if twin.alike < ALIKE:
            return [item, *self._count_alone(track, twin, telling_payload is not None and other_track is None)]
        if other_track is not None and other_track < track:
            self.left_out += 1
        else:
            twin.held.append(_HeldPacket(item, telling_payload, at_ms, now_ms + WITHIN_MS))
        return []

    def due(self, now_ms: float) -> list[T]:
        """Return the items that have waited long enough for their counterpart."""
        due_items: list[T] = []
        for track, twin in list(self._twins.items()):
            while twin.held and twin.held[0].until_ms <= now_ms:
                due_items += self._let_go(track, twin)
        return due_items

    def _tells(self, track: int, payload: bytes, at_ms: float) -> bool:
        """Return whether a packet identifies its sender. A packet that its track repeats is coded silence."""
        previous = self._last.get(track)
        self._last[track] = payload, at_ms
        self._last.move_to_end(track)
        return len(payload) >= LEAST_BYTES and (previous is None or previous[0] != payload)

    def _counterpart(self, track: int, payload: bytes, at_ms: float) -> int | None:
        """Return the other track that brought a packet; note the packet if there is none yet."""
        other_track, other_ms = self._recent.get(payload, (track, 0.0))
        if other_track != track and abs(at_ms - other_ms) <= WITHIN_MS:
            return other_track
        self._recent[payload] = track, at_ms
        self._recent.move_to_end(payload)
        return None

    def _drop(self, twin: _Twin[T], payload: bytes) -> None:
        held_count = len(twin.held)
        twin.held = deque(packet for packet in twin.held if packet.told != payload)
        self.left_out += held_count - len(twin.held)

    def _let_go(self, track: int, twin: _Twin[T]) -> Iterator[T]:
        """Keep the packet that has waited longest, unless it is silence that the first track has too."""
        packet = twin.held.popleft()
        _, first_ms = self._last.get(twin.first, (b"", 0.0))
        if packet.told is None and first_ms >= packet.at_ms - LONGEST_PACKET_MS:
            self.left_out += 1
        else:
            yield packet.item
            yield from self._count_alone(track, twin, packet.told is not None)

    def _count_alone(self, track: int, twin: _Twin[T], is_alone: bool) -> Iterator[T]:
        """Count a packet that came on one track only; after many in a row, the track is no twin and nothing is held."""
        twin.alone += is_alone
        if twin.alone > ALONE:
            del self._twins[track]
            while twin.held:
                yield twin.held.popleft().item

    def _forget(self, now_ms: float) -> None:
        _forget_until(self._recent, now_ms - WITHIN_MS)
        _forget_until(self._last, now_ms - GOES_ON_MS)


K = TypeVar("K")
V = TypeVar("V")


def _forget_until(entries: OrderedDict[K, tuple[V, float]], at_ms: float) -> None:
    while entries:
        key, (_, entry_ms) = next(iter(entries.items()))
        if entry_ms >= at_ms:
            return
        del entries[key]
