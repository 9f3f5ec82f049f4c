"""Records the claims of a stay within bounds, and replays them. The format is JSON lines, compressed.

A line is a claim, or an object of one field: `now_ms`, a moment at which only time had passed; `over_ms`, the end of a
stay; `recalled`, [key, name] of the people whom earlier pages knew.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sederunt.claims.changes import PersonLeft, PersonSpoke, PersonTracked, RosterChange
from sederunt.claims.claim import Claim
from sederunt.claims.fold import Fold
from sederunt.claims.presence import Reason
from sederunt.model.participant import Participant

MOST_BYTES = 1_000_000  # compressed: some hours of a busy meeting
NAME = "claims.jsonl.gz"
Entry = Claim | tuple[str, Any]
_GZIP = 31  # zlib's word for gzip with the largest window


class ClaimJournal:
    """Records the claims that a fold takes. Costs some microseconds a claim, and nothing once it is full."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        self._packed = bytearray()
        self._most, self.is_full = most_bytes, False
        self.count = 0

    def add(self, claim: Claim) -> None:
        """Record one claim."""
        self._line(claim.to_data())

    def note(self, field: str, value: object) -> None:
        """Record a field that is not a claim: see the fields above."""
        self._line({field: value})

    def _line(self, data: dict[str, Any]) -> None:
        if self.is_full:
            return
        self.count += 1
        self._packed += self._packer.compress(json.dumps(data, separators=(",", ":")).encode() + b"\n")
        self.is_full = len(self._packed) >= self._most

    def packed(self) -> bytes:
        """Return a gzip file of all lines so far; more may follow."""
        return bytes(self._packed) + self._packer.copy().flush()


def read(archive: bytes) -> Iterator[Entry]:
    """Yield claims, and other lines as (field, value). Raises ValueError if the bytes are not a journal."""
    try:
        text = zlib.decompress(archive, _GZIP).decode()
        for line in text.splitlines():
            data = json.loads(line)
            yield next(iter(data.items())) if len(data) == 1 else Claim.from_data(data)
    except (zlib.error, KeyError, TypeError, AttributeError) as cause:
        raise ValueError(f"expected a journal of claims ({NAME}); these bytes are none: {cause}") from cause


def replay(entries: Iterable[Entry], on_changes: Callable[[Sequence[RosterChange]], None] | None = None) -> Fold:
    fold = Fold()
    for entry in entries:
        changes = fold.take(entry) if isinstance(entry, Claim) else _happened(fold, *entry)
        if on_changes is not None and changes:
            on_changes(changes)
    fold.settle()
    return fold


def _happened(fold: Fold, field: str, value: Any) -> list[RosterChange]:
    match field:
        case "now_ms":
            return fold.pass_time(int(value))
        case "over_ms":
            return fold.hush(int(value))
        case "recalled":
            first_seen = datetime.fromtimestamp(0, UTC)
            fold.recall(Participant(key=key, name=name, avatar=None, first_seen_at=first_seen) for key, name in value)
            return []
        case _:
            raise ValueError(f"expected a claim, now_ms, over_ms or recalled, found {field!r}")


def report(fold: Fold) -> dict[str, Any]:
    """Return a fold's conclusions and their reasons as JSON data."""
    reasons, present_keys, own_keys = fold.why(), fold.company, fold.own_keys
    return {
        "participants": [
            {
                "id": person.key,
                "name": person.name,
                "here": person.key in present_keys or "here" in reasons[person.key],
                "speaking_ms": sum(_lengths(person.events)),
                "why": {name: told(reason) for name, reason in reasons[person.key].items()},
            }
            for person in fold.participants
        ],
        "bot": sorted(own_keys),
        "sources": dict(sorted(fold.sources.items())),
        "meeting": {fact.value: told(reason) for fact, reason in sorted(fold.told.items())},
    }


def words_of(change: RosterChange) -> str:
    match change:
        case PersonTracked():
            return f"{change.participant.name} is here"
        case PersonLeft():
            return f"{change.participant.name} left"
        case PersonSpoke():
            return f"{change.participant.name} {'speaks' if change.speaking else 'is silent'}"


def told(reason: Reason) -> str:
    """Return a reason in words: the rule, the source, since when."""
    since = datetime.fromtimestamp(reason.since_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return f"{reason.rule} ({reason.source.value}, {since})"


def _lengths(events: Iterable[Any]) -> Iterator[int]:
    start_ms: int | None = None
    for event in events:
        if start_ms is not None:
            yield event.timestamp - start_ms
            start_ms = None
        else:
            start_ms = event.timestamp
