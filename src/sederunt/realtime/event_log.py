"""A bot's events as this process publishes them, and their sum. All listeners of a bot share one list."""

import json
from bisect import bisect_left, bisect_right
from typing import Any

from sederunt.bus.feeds import FeedEvent
from sederunt.realtime import messages
from sederunt.realtime.snapshot import Snapshot

MOST_BYTES = 32_000_000  # of text per bot; a long meeting with much talk has three million
_MARKED = 4000  # positions between stored snapshots, so that no state is computed from the beginning
_SNAPSHOTS = 4  # cached texts of snapshots: listeners often come at the same moment


class Kept:
    """The stored events. Positions count from the very first event; `start` is the oldest still stored."""

    def __init__(self) -> None:
        self.start = 0
        self.snapshot = Snapshot()  # after all events
        self._marks = [(0, Snapshot())]  # (position, state there); the first sums up dropped events
        self._sequences: list[int] = []
        self._texts: list[str] = []
        self._bytes = 0
        self._connected: dict[int, str] = {}

    @property
    def end(self) -> int:
        """Return the position after the newest event."""
        return self.start + len(self._texts)

    @property
    def sequence(self) -> int:
        """Return the number of the newest event, or 0."""
        return self.snapshot.sequence

    @property
    def size(self) -> int:
        """Return the number of characters stored."""
        return self._bytes

    def append(self, event: FeedEvent) -> None:
        text = messages.stored(event)
        self.snapshot.apply(event)
        self._sequences.append(event.sequence)
        self._texts.append(text)
        self._bytes += len(text)
        if self.end % _MARKED == 0:
            self._marks.append((self.end, self.snapshot.copy()))
        if self._bytes > MOST_BYTES:
            count = len(self._texts) // 2
            new_start = self.start + count
            self._marks = [
                (new_start, self._snapshot_before(new_start)),
                *(mark for mark in self._marks if mark[0] > new_start),
            ]
            self._bytes -= sum(map(len, self._texts[:count]))
            del self._texts[:count], self._sequences[:count]
            self.start += count

    def text(self, position: int) -> str:
        """Return the event at a position between `start` and `end`."""
        return self._texts[position - self.start]

    def after(self, sequence: int) -> int:
        """Return the position of the first event with a higher number."""
        return self.start + bisect_right(self._sequences, sequence)

    def is_number(self, sequence: int) -> bool:
        """Return whether this is the number of a stored event, or of the beginning."""
        index = bisect_left(self._sequences, sequence)
        return sequence == self.start == 0 or self._sequences[index : index + 1] == [sequence]

    def connected(self, position: int, status: str) -> str:
        """Return the `connected` message for a listener that gets the events from this position on.

        `status` is used if no event has set one yet.
        """
        text = self._connected.get(position)
        if text is None:
            snapshot = self.snapshot if position == self.end else self._snapshot_before(position)
            values = {**snapshot.values(), "status": snapshot.status or self.snapshot.first_status or status}
            text = messages.connected(values, snapshot.sequence)
            self._connected = dict([*self._connected.items(), (position, text)][-_SNAPSHOTS:])
        return text

    def _snapshot_before(self, position: int) -> Snapshot:
        marked_position, snapshot = self._marks[bisect_right(self._marks, position, key=lambda mark: mark[0]) - 1]
        snapshot = snapshot.copy()
        for text in self._texts[marked_position - self.start : position - self.start]:
            message: dict[str, Any] = json.loads(text)
            snapshot.apply(FeedEvent(sequence=message.pop("seq"), event=message))
        return snapshot
