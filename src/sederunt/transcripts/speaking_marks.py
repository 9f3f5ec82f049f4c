"""Who was marked as speaking when, and how well that fits a voice. Pure; seconds from the start of the recording.

A site's marks carry names but come late, linger, and miss short turns: alone they make a poor diarization (half a
second of lag costs 50 % errors). Weighed over all of a voice's speech, they name it well.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from sederunt.model.participant import Participant, SpeakingKind
from sederunt.model.transcript import NameGuess

Interval = tuple[float, float]

# The most that marks are late, and the step of the search.
MOST_LAG_S, LAG_STEP_S = 1.5, 0.1
# Marks are early if a page plays its sound late. That is assumed only if it covers this much more of the speech.
EARLY_SHARE = 0.02
# Weights of a moment at which one participant alone is marked, and of one shared with others.
ALONE, SHARED = 4.0, 1.0
# A voice gets a name if this share of its marks is one participant's, nobody else has half as much, and they cover
# enough of its speech: half of it, or ENOUGH_S. With fewer seconds, the share must reach SURE_OF_LITTLE.
SURE_SHARE, LEAD = 0.7, 2.0
COVERED, ENOUGH_S, SURE_OF_LITTLE = 0.5, 5.0, 0.9
# How far each edge of a mark may be from that of its turn, beyond the meeting's lag: on a busy machine the site's
# message and the sound are delayed independently.
STRAY_S = 3.0
# … and how far a mark may reach beyond a turn in which it lies.
INSIDE_S = 0.5
# One person's marks with shorter pauses between them are joined.
MARK_PAUSE_S = 1.0
# Shares below this are noise.
LEAST_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class MarkMatch:
    """How a voice's speech and the participants' marks coincide."""

    weight: Mapping[str, float] = field(default_factory=dict)  # participant key → weighted seconds
    seconds: Mapping[str, float] = field(default_factory=dict)  # participant key → seconds

    def ranked(self) -> list[tuple[str, float]]:
        """Return keys with their share of the weight, largest first, without noise."""
        total = sum(self.weight.values())
        shares = [(key, weight / total) for key, weight in self.weight.items() if weight > 0]
        return sorted((pair for pair in shares if pair[1] >= LEAST_SHARE), key=lambda pair: (-pair[1], pair[0]))

    def sure(self, spoken_s: float, enough_s: float = ENOUGH_S) -> str | None:
        """Return the one participant it points to; None if that is not certain.

        Args:
            spoken_s: how long the voice spoke in total.
            enough_s: marks of this many seconds are enough, however long it spoke.
        """
        ranked = self.ranked()
        if not ranked:
            return None
        key, share = ranked[0]
        seconds = self.seconds[key]
        needed = SURE_SHARE if seconds >= enough_s else SURE_OF_LITTLE
        if share < needed or seconds < min(enough_s, COVERED * spoken_s):
            return None
        return key if len(ranked) == 1 or share >= LEAD * ranked[1][1] else None

    def without(self, keys: Collection[str]) -> "MarkMatch":
        """Return the match without these participants."""
        return MarkMatch(
            {key: weight for key, weight in self.weight.items() if key not in keys},
            {key: seconds for key, seconds in self.seconds.items() if key not in keys},
        )

    def guesses(self, names: Mapping[str, str]) -> tuple[NameGuess, ...]:
        """Return candidates by name, likeliest first."""
        return tuple(NameGuess(name=names[key], confidence=round(share, 4)) for key, share in self.ranked())


class Marks:
    """All participants' marks, for queries about any stretch of time."""

    def __init__(self, marks: Mapping[str, Sequence[Interval]]) -> None:
        self._marks = marks
        edges = sorted(
            edge for key, spans in marks.items() for start, end in spans for edge in ((start, 1, key), (end, -1, key))
        )
        self._stretches: list[tuple[float, float, tuple[str, ...]]] = []
        active: dict[str, int] = {}
        since_s = 0.0
        for moment, change, key in edges:
            if moment > since_s and active:
                self._stretches.append((since_s, moment, tuple(sorted(active))))
            since_s = moment
            active[key] = active.get(key, 0) + change
            if not active[key]:
                del active[key]
        self._starts = [start for start, _, _ in self._stretches]

    def within(self, start: float, end: float) -> Iterable[tuple[float, tuple[str, ...]]]:
        """Yield (seconds, who) of the marked time between two moments."""
        for index in range(max(0, bisect_right(self._starts, start) - 1), len(self._stretches)):
            stretch_start, stretch_end, keys = self._stretches[index]
            if stretch_start >= end:
                return
            length = min(stretch_end, end) - max(stretch_start, start)
            if length > 0:
                yield length, keys

    def owners(self, turns: Sequence[Interval]) -> dict[Interval, str]:
        """Return the owner of each turn whose marks belong to one participant alone.

        A mark is about the turn whose edges are nearest to its own, however much of another turn it covers, and about
        a turn that contains it. `turns` are in order, each of one voice.
        """
        claims: dict[Interval, set[str]] = {}
        starts = [start for start, _ in turns]
        for key, spans in self._marks.items():
            for start, end in union(spans, pause=MARK_PAUSE_S):
                nearby = turns[bisect_left(starts, start - 2 * STRAY_S) : bisect_right(starts, start + 2 * STRAY_S)]
                distance, nearest = min(
                    (
                        (abs(turn_start - start) + abs(turn_end - end), (turn_start, turn_end))
                        for turn_start, turn_end in nearby
                    ),
                    default=(inf, None),
                )
                if nearest is not None and distance <= 2 * STRAY_S:
                    claims.setdefault(nearest, set()).add(key)
                index_behind = bisect_right(starts, start + INSIDE_S)
                for turn_start, turn_end in turns[max(0, index_behind - 2) : index_behind]:
                    if turn_start - INSIDE_S <= start and end <= turn_end + INSIDE_S:
                        claims.setdefault((turn_start, turn_end), set()).add(key)
        return {turn: next(iter(keys)) for turn, keys in claims.items() if len(keys) == 1}

    def match(self, spoken: Iterable[Interval]) -> MarkMatch:
        """Return how the marks match a voice that spoke in these intervals."""
        weight: dict[str, float] = {}
        seconds: dict[str, float] = {}
        for start, end in spoken:
            for length, keys in self.within(start, end):
                for key in keys:
                    share = ALONE if len(keys) == 1 else SHARED / len(keys)
                    weight[key] = weight.get(key, 0.0) + length * share
                    seconds[key] = seconds.get(key, 0.0) + length
        return MarkMatch(weight, seconds)


def marked(participant: Participant, *, started_ms: int, duration_s: float) -> list[Interval]:
    """Return when a participant was marked as speaking, cut to the recording; an open mark lasts to the end."""
    intervals: list[Interval] = []
    since_s: float | None = None
    for event in sorted(participant.events, key=lambda event: event.timestamp):
        moment = min(duration_s, max(0.0, (event.timestamp - started_ms) / 1000))
        if event.type is SpeakingKind.STARTED:
            since_s = moment if since_s is None else since_s
        elif since_s is not None:
            intervals.append((since_s, moment))
            since_s = None
    if since_s is not None:
        intervals.append((since_s, duration_s))
    return [(start, end) for start, end in intervals if end > start]


def lag_s(
    marks: Mapping[str, Sequence[Interval]],
    spoken: Mapping[str, Sequence[Interval]],
    voices: Sequence[Sequence[Interval]] = (),
) -> float:
    """Return how late this meeting's marks are; negative if they are early.

    That is the shift at which they cover most speech, the smallest of equals.

    `spoken` holds the speech of participants whose voice is known. If `marks` has none of them, each of the separated
    but nameless `voices` is compared with the participant that fits it best; without voices, all speech is compared
    with all marks.
    """
    pairs = [(list(marks[key]), union(spoken[key])) for key in spoken if marks.get(key)]
    nameless_voices = [] if pairs else [union(voice) for voice in voices]
    if not pairs and not nameless_voices:
        pairs = [(union(i for spans in marks.values() for i in spans), union(i for s in spoken.values() for i in s))]

    def covered(lag: float) -> float:
        moved = [shifted(spans, -lag) for spans in marks.values()] if nameless_voices else []
        nameless_s = sum(max((overlap(spans, voice) for spans in moved), default=0.0) for voice in nameless_voices)
        return nameless_s + sum(overlap(shifted(spans, -lag), speech) for spans, speech in pairs)

    lags = [step * LAG_STEP_S for step in range(round(MOST_LAG_S / LAG_STEP_S) + 1)]
    late = max(lags, key=lambda lag: round(covered(lag), 6))
    early = -max(lags, key=lambda lag: round(covered(-lag), 6))
    all_speech = [*(speech for _, speech in pairs), *nameless_voices]
    speech_s = sum(end - start for speech in all_speech for start, end in speech)
    return early if covered(early) > covered(late) + EARLY_SHARE * speech_s else late


def shifted(intervals: Iterable[Interval], seconds: float) -> list[Interval]:
    """Return intervals moved in time, cut off at zero."""
    moved = ((max(0.0, start + seconds), end + seconds) for start, end in intervals)
    return [(start, end) for start, end in moved if end > start]


def union(intervals: Iterable[Interval], *, pause: float = 0.0) -> list[Interval]:
    """Return the intervals in order, joined if they overlap or lie at most `pause` apart."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1] + pause:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def overlap(some: Sequence[Interval], others: Sequence[Interval]) -> float:
    """Return the seconds shared by two ordered lists of disjoint intervals."""
    total, index = 0.0, 0
    for start, end in some:
        while index < len(others) and others[index][1] <= start:
            index += 1
        at = index
        while at < len(others) and others[at][0] < end:
            other_start, other_end = others[at]
            total += min(end, other_end) - max(start, other_start)
            at += 1
    return total
