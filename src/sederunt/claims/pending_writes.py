"""Changes of the roster that the journal has not written yet."""

from collections.abc import Iterable, Mapping


class PendingWrites:
    """Keeps the people who changed, and since when marks of theirs that may be written already do not count."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._withdrawn: dict[str, int] = {}

    def note(self, key: str) -> None:
        """Note that a person changed."""
        self._changed.add(key)

    def note_withdrawn(self, key: str, since_ms: int) -> None:
        """Note that what was written of a person's speech since then is taken back."""
        self._withdrawn[key] = min(since_ms, self._withdrawn.get(key, since_ms))

    def note_deleted(self, key: str) -> None:
        """Note that an entry is nobody's: of it everything is taken back."""
        self._changed.discard(key)
        self._withdrawn[key] = 0

    def take(self) -> tuple[frozenset[str], Mapping[str, int]]:
        """Return everything noted since the last call: who changed, and person → since when marks are withdrawn."""
        pending = frozenset(self._changed), self._withdrawn
        self._changed, self._withdrawn = set(), {}
        return pending

    def put_back(self, keys: Iterable[str], withdrawals: Mapping[str, int]) -> None:
        """Note again what could not be written."""
        self._changed.update(keys)
        for key, since_ms in withdrawals.items():
            self.note_withdrawn(key, since_ms)
