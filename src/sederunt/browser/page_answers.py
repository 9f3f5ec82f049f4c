"""Read the answers of scripts among a page's own. The page can forge them, so only their shape is trusted.

Pure. An answer of another shape counts as none: a page that lies about the capture must not keep its bot from leaving.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

MOST_COUNT = 2**32
MOST_TRACKS = 1000
# The fields of a track's entry and their types.
_TRACK: Mapping[str, type] = MappingProxyType(
    {"track": int, "kind": str, "backend": str, "packets": int, "tapped": int, "plis": int}
)


def batches_of(answers: Sequence[object]) -> Iterator[tuple[str, int]]:
    """Yield the name of each realm that answered a flush, and how many batches it has sent."""
    for answer in _records(answers):
        if (batches := _count(answer.get("batches"))) is not None:
            yield answer["realm"], batches


def states_of(answers: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    """Yield the capture state of each realm that answered: `realm`, `backend`, `tracks`, `faults` and `graphs`."""
    for answer in _records(answers):
        yield {
            "realm": answer["realm"],
            "backend": "worklet" if answer.get("backend") == "worklet" else "encoded",
            "tracks": [track for entry in _listed(answer.get("tracks")) if (track := _track(entry)) is not None],
            "faults": [fault[:200] for fault in _listed(answer.get("faults")) if isinstance(fault, str)],
            "graphs": _count(answer.get("graphs")) or 0,
        }


def _records(answers: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    # Yields the answers that are records; the realm's name in them comes from our own world.
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
