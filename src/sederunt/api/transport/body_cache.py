"""Cache the rendered bodies of bots and recordings that have ended.

The key of a body is its entity tag, which depends on everything in the body, including the caller's own addresses (see
`etags`). Entries are therefore never out of date, and no caller gets what only another one may see.
"""

from collections import Counter, OrderedDict
from uuid import UUID

# Smaller bodies are rendered as fast as they are looked up; one larger than a quarter of the cache is not stored.
LEAST_BYTES, MOST_BYTES = 32_000, 32_000_000


class BodyCache:
    """The most recently requested bodies of one process."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bodies: OrderedDict[str, tuple[UUID, bytes]] = OrderedDict()
        self._resources: Counter[UUID] = Counter()
        self._bytes = 0

    def has(self, resource_id: UUID) -> bool:
        """Return whether any body of a bot or recording is cached."""
        return self._resources[resource_id] > 0

    def get(self, etag: str) -> bytes | None:
        """Return the body of a tag, if it is cached."""
        if etag not in self._bodies:
            return None
        self._bodies.move_to_end(etag)
        return self._bodies[etag][1]

    def keep(self, resource_id: UUID, etag: str, body: bytes, *, least_bytes: int = LEAST_BYTES) -> None:
        """Keep a body, and drop the least recently used ones to make room."""
        if etag in self._bodies or not least_bytes <= len(body) <= self._most_bytes / 4:
            return
        self._bodies[etag] = (resource_id, body)
        self._resources[resource_id] += 1
        self._bytes += len(body)
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._bodies)))

    def forget(self, resource_id: UUID) -> None:
        """Drop all bodies of a deleted bot or recording."""
        for etag in [etag for etag, (owner, _) in self._bodies.items() if owner == resource_id]:
            self._drop(etag)

    def _drop(self, etag: str) -> None:
        owner, body = self._bodies.pop(etag)
        self._bytes -= len(body)
        self._resources[owner] -= 1
        if not self._resources[owner]:
            del self._resources[owner]
