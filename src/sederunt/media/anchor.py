"""Map a sender's RTP clock to the wall clock.

Within a stream RTP time is exact, so it is anchored once, by the least delayed of the first frames. Only a jump moves
the anchor: the sender's clock stood still, or leapt. A stalled network or page looks like a jump at first, so a late
frame is held until its successors show which of the two it was.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from sederunt.media.sequence import Counts

JUMP_MS = 250.0  # below this it is jitter or drift
DOUBT_MS = 200.0  # how long a late frame is held
DRAINING_MS = 100.0  # a backlog that shrinks by this much while held was a stall, not a jump

Item = TypeVar("Item")


class Anchor(Generic[Item]):
    """Gives the frames of one stream, in their order, their wall time in Unix milliseconds.

    Args:
        per_ms: ticks of the stream's clock per millisecond.
        not_before_ms: a first frame a little before this is moved here (the end of what the same track sent under
            another SSRC).
        jump_ms: a frame later than this is a jump.
    """

    def __init__(self, per_ms: float, counts: Counts, not_before_ms: float = 0.0, *, jump_ms: float = JUMP_MS) -> None:
        self._per_ms, self._counts, self._jump_ms = per_ms, counts, jump_ms
        self._zero_ms: float | None = None  # wall time of tick 0
        self._end_ms = not_before_ms  # end of the placed frames
        self._doubted: list[tuple[int, float, float | None, Item]] = []  # tick, length in ms, at_ms, frame

    @property
    def is_set(self) -> bool:
        return self._zero_ms is not None

    @property
    def end_ms(self) -> float:
        """Return the end of the last placed frame."""
        return self._end_ms

    def set(self, frames: Iterable[tuple[int, float]]) -> None:
        """Set the anchor by the least delayed of these (tick, at_ms)."""
        first_tick: int | None = None
        for tick, at_ms in frames:
            zero_ms = at_ms - tick / self._per_ms
            first_tick = tick if first_tick is None else first_tick
            self._zero_ms = zero_ms if self._zero_ms is None else min(self._zero_ms, zero_ms)
        if first_tick is not None and self._zero_ms is not None:
            overlap_ms = self._end_ms - (self._zero_ms + first_tick / self._per_ms)
            if 0 < overlap_ms <= JUMP_MS:
                self._zero_ms += overlap_ms

    def place(self, tick: int, length_ms: float, at_ms: float | None, item: Item) -> list[tuple[float, Item]]:
        """Place a frame; returns the frames placed now. `at_ms` is None for a frame recovered from another one."""
        assert self._zero_ms is not None
        start_ms = self._zero_ms + tick / self._per_ms
        excess_ms = 0.0 if at_ms is None else at_ms - start_ms
        if not self._doubted and -JUMP_MS <= excess_ms <= self._jump_ms:
            self._end_ms = start_ms + length_ms
            return [(start_ms, item)]
        if at_ms is not None and excess_ms < -JUMP_MS:
            return [*self._settle_doubted(), self._leap_back(tick, length_ms, at_ms, item)]
        self._doubted.append((tick, length_ms, at_ms, item))
        if at_ms is None:
            return []
        if excess_ms <= self._jump_ms:  # it was a stall, now over
            return self._settle_doubted()
        return self.tick(at_ms)

    def excess_ms(self, tick: int, at_ms: float) -> float:
        """Return how much later than its place a frame came."""
        return at_ms - self._start_ms(tick)

    def follow(self, tick: int, by_ms: float) -> None:
        """Move the anchor before this frame is placed, but not into placed frames."""
        self._move(max(by_ms, self._end_ms - self._start_ms(tick)))

    def tick(self, now_ms: float) -> list[tuple[float, Item]]:
        """Place held frames once DOUBT_MS has passed."""
        if not self._doubted:
            return []
        since_ms = next((at_ms for _, _, at_ms, _ in self._doubted if at_ms is not None), 0.0)
        return self.drain() if now_ms - since_ms >= DOUBT_MS else []

    def drain(self) -> list[tuple[float, Item]]:
        """Place all held frames now."""
        excesses = [at_ms - self._start_ms(tick) for tick, _, at_ms, _ in self._doubted if at_ms is not None]
        if excesses and min(excesses) > self._jump_ms and excesses[0] - excesses[-1] < DRAINING_MS:
            self._move(min(excesses))
        return self._settle_doubted()

    @property
    def holds_any(self) -> bool:
        return bool(self._doubted)

    def _leap_back(self, tick: int, length_ms: float, at_ms: float, item: Item) -> tuple[float, Item]:
        """Place a frame that came early (the anchor was late, or the clock leapt), after all placed frames."""
        self._move(max(at_ms, self._end_ms) - self._start_ms(tick))
        start_ms = self._start_ms(tick)
        self._end_ms = start_ms + length_ms
        return start_ms, item

    def _settle_doubted(self) -> list[tuple[float, Item]]:
        placements = []
        for tick, length_ms, _, item in self._doubted:
            start_ms = self._start_ms(tick)
            self._end_ms = start_ms + length_ms
            placements.append((start_ms, item))
        self._doubted = []
        return placements

    def _start_ms(self, tick: int) -> float:
        assert self._zero_ms is not None
        return self._zero_ms + tick / self._per_ms

    def _move(self, by_ms: float) -> None:
        assert self._zero_ms is not None
        if abs(by_ms) > 1e-6:
            self._zero_ms += by_ms
            self._counts.anchored_again += 1
