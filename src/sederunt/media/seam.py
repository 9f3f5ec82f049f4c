"""Join two overlapping recordings of one meeting, by an old and a new holder. Pure.

Both received the packets that the same senders encoded, so their packets are identical. Such pairs give the difference
between the two clocks, and the old recording ends with the packet before the new one's first: nothing is lost or
repeated, and no clock needs to be right.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from sederunt.model.audio import Packet

LEAST_BYTES = 16  # silence is the same everywhere
LEAST_PAIRS = 5
MOST_SHIFT_S = 5.0  # greater differences between clocks are not corrected
NEAR_S = 0.3  # of the change: senders are placed independently, so packets decide here, not times


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """Which part of a recording is kept, and where it lies."""

    until_s: float | None = None  # by its own times; None for all of it
    shift_s: float = 0.0  # added to its times
    repeated: Mapping[bytes, float] = field(
        default_factory=dict
    )  # packets that the later one has: payload → time in this one

    def of(self, packets: Iterable[Packet]) -> list[Packet]:
        """Return the packets to keep, at their places."""
        kept_packets = filter(self._keeps, packets)
        return [replace(packet, start=max(packet.start + self.shift_s, 0.0)) for packet in kept_packets]

    def _keeps(self, packet: Packet) -> bool:
        if self.until_s is None:
            return True
        if self.repeated and len(packet.payload) >= LEAST_BYTES and abs(packet.start - self.until_s) <= NEAR_S:
            return abs(self.repeated.get(packet.payload, -1e9) - packet.start) > NEAR_S
        return packet.start + packet.duration / 2 < self.until_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Seam:
    """How an earlier recording ends and a later one continues it."""

    earlier: Fit
    later: Fit


def seam(earlier: Sequence[Packet], later: Sequence[Packet]) -> Seam | None:
    """Return how two stretches fit together; None if they do not overlap.

    Args:
        earlier, later: all packets recorded around the change, in any order.
    """
    if not earlier or not later:
        return None
    first_s = min(packet.start for packet in later)
    ahead_s = _ahead_s(earlier, later)
    until_s = first_s - (ahead_s or 0.0)
    if max(packet.start + packet.duration for packet in earlier) <= until_s:
        return None
    repeated_starts = {} if ahead_s is None else {payload: at_s - ahead_s for payload, at_s in _once(later).items()}
    return Seam(earlier=Fit(until_s=until_s, repeated=repeated_starts), later=Fit(shift_s=-(ahead_s or 0.0)))


def _ahead_s(earlier: Sequence[Packet], later: Sequence[Packet]) -> float | None:
    """Return how far the later recording's clock is ahead; None if too few packets are in both."""
    earlier_starts, later_starts = _once(earlier), _once(later)
    differences = [
        later_starts[payload] - earlier_starts[payload] for payload in earlier_starts.keys() & later_starts.keys()
    ]
    median_s = median(differences) if len(differences) >= LEAST_PAIRS else None
    return median_s if median_s is not None and abs(median_s) <= MOST_SHIFT_S else None


def _once(packets: Sequence[Packet]) -> dict[bytes, float]:
    """Return payload → start of unique packets that are not silence."""
    counts = Counter(packet.payload for packet in packets)
    return {
        packet.payload: packet.start
        for packet in packets
        if counts[packet.payload] == 1 and len(packet.payload) >= LEAST_BYTES
    }
