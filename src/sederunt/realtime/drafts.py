"""A bot's current drafts: the newest of each segment, in order of arrival."""

MOST_DRAFTS = 64  # segments in progress at the same time


class Drafts:
    """Numbered drafts: a listener gets each once, and none that was already replaced."""

    def __init__(self) -> None:
        self.newest = 0  # the number of the draft that came last
        self._of_segment: dict[object, tuple[int, str]] = {}  # segment → (number, text)

    def put(self, segment: object, text: str) -> None:
        """Show a draft instead of the segment's last one. Beyond MOST_DRAFTS segments the oldest is dropped."""
        self.newest += 1
        self._of_segment.pop(segment, None)
        self._of_segment[segment] = (self.newest, text)
        if len(self._of_segment) > MOST_DRAFTS:
            del self._of_segment[next(iter(self._of_segment))]

    def drop(self, segment: object) -> None:
        """Forget the draft, if any, of a segment that is final."""
        self._of_segment.pop(segment, None)

    def clear(self) -> None:
        """Forget all drafts."""
        self._of_segment.clear()

    def after(self, number: int) -> tuple[int, str] | None:
        """Return (number, text) of the oldest draft after this number; None if there is none."""
        if self.newest <= number:
            return None
        return next((draft for draft in self._of_segment.values() if draft[0] > number), None)
