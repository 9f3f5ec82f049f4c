"""A bot's events as this process publishes them, and their sum. All listeners of a bot read one list."""

import json
from bisect import bisect_right
from typing import Any

from sederunt.bus.feeds import FeedEvent
from sederunt.realtime import messages
from sederunt.realtime.snapshot import Snapshot

MOST_BYTES = 32_000_000  # of text per bot; a long meeting with much talk has three
_SNAPSHOTS = 4  # texts of snapshots that may be asked for again: listeners often come at the same moment


class Kept:
    """Positions count from the first event there ever was; `start` is the first that is still here."""

    def __init__(self) -> None:
        self.start = 0
        self.snapshot = Snapshot()  # of everything
        self._before = Snapshot()  # of what is not here any more
        self._sequences: list[int] = []
        self._texts: list[str] = []
        self._bytes = 0
        self._connected: dict[int, str] = {}

    @property
    def end(self) -> int:
        """Return the position behind the newest event."""
        return self.start + len(self._texts)

    @property
    def sequence(self) -> int:
        """Return the number of the newest event, 0 where there is none."""
        return self.snapshot.sequence

    def append(self, event: FeedEvent) -> None:
        """Take the next event."""
        text = messages.stored(event)
        self.snapshot.apply(event)
        self._sequences.append(event.sequence)
        self._texts.append(text)
        self._bytes += len(text)
        if self._bytes > MOST_BYTES:
            count = len(self._texts) // 2
            self._before = self._snapshot_before(self.start + count)
            self._bytes -= sum(map(len, self._texts[:count]))
            del self._texts[:count], self._sequences[:count]
            self.start += count

    def text(self, position: int) -> str:
        """Return the event at a position between `start` and `end`."""
        return self._texts[position - self.start]

    def after(self, sequence: int) -> int:
        """Return the position of the first event with a higher number."""
        return self.start + bisect_right(self._sequences, sequence)

    def connected(self, position: int, status: str) -> str:
        """Return the `connected` message of somebody who is to hear what stands at this position and after it.

        `status` is the one to tell where no event has told of any yet.
        """
        text = self._connected.get(position)
        if text is None:
            snapshot = self.snapshot if position == self.end else self._snapshot_before(position)
            values = {**snapshot.values(), "status": snapshot.status or self.snapshot.first_status or status}
            text = messages.connected(values, snapshot.sequence)
            self._connected = dict([*self._connected.items(), (position, text)][-_SNAPSHOTS:])
        return text

    def _snapshot_before(self, position: int) -> Snapshot:
        snapshot = self._before.copy()
        for text in self._texts[: position - self.start]:
            message: dict[str, Any] = json.loads(text)
            snapshot.apply(FeedEvent(sequence=message.pop("seq"), event=message))
        return snapshot
