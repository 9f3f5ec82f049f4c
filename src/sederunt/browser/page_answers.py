"""Read what scripts among a page's own answered. The page can forge any of it, so nothing is believed but its shape.

Pure. What has another shape counts as no answer: a page that lies about how it is heard must not keep its bot from
leaving.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

MOST_COUNT = 2**32
MOST_TRACKS = 1000
# What a track's entry may hold, and of what type.
_TRACK: Mapping[str, type] = MappingProxyType(
    {"track": int, "kind": str, "backend": str, "packets": int, "tapped": int, "plis": int}
)


def batches_of(answers: Sequence[object]) -> Iterator[tuple[str, int]]:
    """Yield of each realm that answered a flush its name and how many batches it has sent."""
    for answer in _records(answers):
        if (batches := _count(answer.get("batches"))) is not None:
            yield answer["realm"], batches


def states_of(answers: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    """Yield how each realm that answered is heard: `realm`, `backend`, `tracks`, `faults` and `graphs`."""
    for answer in _records(answers):
        yield {
            "realm": answer["realm"],
            "backend": "worklet" if answer.get("backend") == "worklet" else "encoded",
            "tracks": [track for entry in _listed(answer.get("tracks")) if (track := _track(entry)) is not None],
            "faults": [fault[:200] for fault in _listed(answer.get("faults")) if isinstance(fault, str)],
            "graphs": _count(answer.get("graphs")) or 0,
        }


def _records(answers: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    """Yield the answers that are records; the realm's name in them is our own world's word."""
    for answer in answers:
        if isinstance(answer, dict) and isinstance(answer.get("realm"), str):
            yield answer


def _listed(value: object) -> list[Any]:
    return value[:MOST_TRACKS] if isinstance(value, list) else []


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_COUNT else None


def _track(value: object) -> Mapping[str, Any] | None:
    if not isinstance(value, dict) or _count(value.get("track")) is None:
        return None
    return {name: field for name, kind in _TRACK.items() if type(field := value.get(name)) is kind}
