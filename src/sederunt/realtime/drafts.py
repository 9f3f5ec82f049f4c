"""The drafts of a bot that are shown now: of each segment the newest, in the order in which they came."""

MOST_DRAFTS = 64  # segments that are being said at the same time


class Drafts:
    """Numbered, so that a listener takes each once and none that was replaced before it came to it."""

    def __init__(self) -> None:
        self.newest = 0  # the number of the draft that came last
        self._of_segment: dict[object, tuple[int, str]] = {}  # segment → (number, text)

    def put(self, segment: object, text: str) -> None:
        """Show a draft instead of the segment's last one. Of too many segments the oldest is left out."""
        self.newest += 1
        self._of_segment.pop(segment, None)
        self._of_segment[segment] = (self.newest, text)
        if len(self._of_segment) > MOST_DRAFTS:
            del self._of_segment[next(iter(self._of_segment))]

    def drop(self, segment: object) -> None:
        """Forget a segment's draft, if there is one: it is final."""
        self._of_segment.pop(segment, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._of_segment.clear()

    def after(self, number: int) -> tuple[int, str] | None:
        """Return the oldest draft that is newer than this number, with its own; None where there is none."""
        if self.newest <= number:
            return None
        return next((draft for draft in self._of_segment.values() if draft[0] > number), None)
