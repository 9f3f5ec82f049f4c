"""Count what a host or worker does, for `/metrics`. Heartbeats carry the counts, so no port of a role is scraped.

Like a log, counters belong to their process: code counts an event where it happens. Labels are words of ours, never
content, ids or names.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class CounterRow:
    """One measure; with `buckets` a histogram of its amounts, else their sum."""

    name: str
    text: str
    label: str
    buckets: tuple[float, ...] = ()


MEASURES: Mapping[str, CounterRow] = MappingProxyType(
    {
        measure.name: measure
        for measure in (
            CounterRow(name="step_seconds", text="Time that a step of the work took.", label="step", buckets=_SECONDS),
            CounterRow(
                name="lobby_seconds", text="Time in a waiting room, by what came then.", label="then", buckets=_SECONDS
            ),
            CounterRow(name="stays", text="Stays in meetings that ended, by what captured them.", label="backend"),
            CounterRow(name="packets", text="Packets of sound, by what became of them.", label="state"),
            CounterRow(name="recording_gaps", text="Gaps in recordings, by cause.", label="cause"),
            CounterRow(name="recording_gap_seconds", text="Length of all gaps in recordings, by cause.", label="cause"),
            CounterRow(
                name="live_lag_seconds", text="From the end of live speech to its line.", label="kind", buckets=_SECONDS
            ),
            CounterRow(name="transcribed_sound_seconds", text="Length of sound that was transcribed.", label="of"),
            CounterRow(
                name="webhook_seconds",
                text="From an event to its delivery, by how the receiver was of late.",
                label="receiver",
                buckets=_SECONDS,
            ),
        )
    }
)

Told = Mapping[str, Mapping[str, Any]]


class ProcessCounters:
    """The counts of one process."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._counts: dict[tuple[str, str], list[int]] = {}  # (measure, label) → count in each bucket, and beyond

    def add(self, name: str, label: str, amount: float = 1.0) -> None:
        """Count an amount of a measure. Raises KeyError for one that is not in the table."""
        measure = MEASURES[name]
        self._sums[name][label] += amount  # type: ignore[assignment]  # a Counter adds whatever is a number
        if measure.buckets:
            counts = self._counts.setdefault((name, label), [0] * (len(measure.buckets) + 1))
            counts[bisect_left(measure.buckets, amount)] += 1

    def told(self) -> Told:
        """Return all counts as heartbeats carry them: measure → label → its sum, or [sum, amounts in each bucket …]."""
        return {
            name: {
                label: [round(total, 3), *self._counts[name, label]] if MEASURES[name].buckets else round(total, 3)
                for label, total in totals.items()
            }
            for name, totals in self._sums.items()
        }


COUNTERS = ProcessCounters()
add = COUNTERS.add


def cumulated(counts: Iterable[int]) -> Sequence[int]:
    """Return the number of amounts in each bucket and all smaller ones."""
    total, totals = 0, []
    for count in counts:
        total += count
        totals.append(total)
    return totals
