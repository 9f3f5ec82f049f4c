"""Changes of the roster that the journal has not written yet."""

from collections.abc import Iterable, Mapping


class PendingWrites:
    """Keeps the people who changed, and the moments since which their written marks are withdrawn."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._withdrawn: dict[str, int] = {}

    def note(self, key: str) -> None:
        self._changed.add(key)

    def note_withdrawn(self, key: str, since_ms: int) -> None:
        """Note that a person's written speech since a moment is withdrawn."""
        self._withdrawn[key] = min(since_ms, self._withdrawn.get(key, since_ms))

    def note_deleted(self, key: str) -> None:
        """Note that an entry belongs to nobody: everything written about it is withdrawn."""
        self._changed.discard(key)
        self._withdrawn[key] = 0

    def take(self) -> tuple[frozenset[str], Mapping[str, int]]:
        """Return everything noted since the last call: changed people, and person → since when marks are withdrawn."""
        pending = frozenset(self._changed), self._withdrawn
        self._changed, self._withdrawn = set(), {}
        return pending

    def put_back(self, keys: Iterable[str], withdrawals: Mapping[str, int]) -> None:
        """Note again changes that could not be written."""
        self._changed.update(keys)
        for key, since_ms in withdrawals.items():
            self.note_withdrawn(key, since_ms)
