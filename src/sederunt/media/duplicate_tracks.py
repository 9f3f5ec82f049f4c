"""Leave out tracks that bring the same packets twice, where a page subscribed to somebody a second time.

An SFU hands on what a sender encoded, so the packets are the same to the last bit. Kept twice, a sentence is
transcribed twice and stands out in the mix. Of two such tracks the later one is left out while they go on alike.
"""

from collections import OrderedDict

ALIKE = 5  # packets that came on both tracks tell: a tenth of a second
ALONE = 25  # packets of the later track that came on no other: it is a twin no more
LEAST_BYTES = 16  # silence is alike everywhere
WITHIN_MS = 200.0  # how far apart the same packet may lie on two tracks


class DuplicateTracks:
    """Remembers what came lately, and which tracks are alike."""

    def __init__(self) -> None:
        self._recent: OrderedDict[bytes, tuple[int, float]] = OrderedDict()  # packet → (track, Unix milliseconds)
        self._alike: dict[int, int] = {}  # later track of two → packets that came on both
        self._alone: dict[int, int] = {}  # … and those since that came on it alone

    def is_second(self, track: int, payload: bytes, at_ms: float) -> bool:
        """Note a packet, tell whether its track only repeats an earlier one's now. `at_ms` is where it was placed."""
        if len(payload) >= LEAST_BYTES:
            self._forget(at_ms)
            other, other_ms = self._recent.get(payload, (track, 0.0))
            if other != track and abs(at_ms - other_ms) <= WITHIN_MS:
                later = max(track, other)
                self._alike[later] = self._alike.get(later, 0) + 1
                self._alone[later] = 0
            else:
                self._recent[payload] = track, at_ms
                # Its counterpart may come yet; only many in a row tell that there is none.
                if track in self._alike:
                    self._alone[track] += 1
                    if self._alone[track] > ALONE:
                        del self._alike[track], self._alone[track]
        return self._alike.get(track, 0) >= ALIKE

    def _forget(self, now_ms: float) -> None:
        while self._recent:
            payload, (_, at_ms) = next(iter(self._recent.items()))
            if now_ms - at_ms <= WITHIN_MS:
                return
            del self._recent[payload]
