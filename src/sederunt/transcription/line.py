"""One session's terms turned into the recording's: clock, keys, labels, and the part of time it answers for.

Pure: what a session told goes in, events for the caller come out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from sederunt.transcription.live import Event, Final, LiveSegment, Partial, Revised, Started
from sederunt.transcription.sessions import Draft, Onset, Said, Settled
from sederunt.transcription.text import runs

# Stretches between which silence was left out; older ones than that many matter to nothing that is still open.
_STRETCHES = 256
# So many of a line's last segments tell whose voice is whose when the next session takes over.
_SPANS = 200
# Less common speech than this links no two labels, in seconds.
_LEAST_COMMON_S = 1.0

Span = tuple[float, float, str]  # start, end, the vendor's label


@dataclass(slots=True)
class _Stretch:
    """Sound, and the silence behind it, that was sent as it came."""

    session_s: float  # where it begins
    recording_s: float
    sound_until: float  # where its silence begins, in seconds of the session

    def common(self, start: float, end: float) -> float:
        """Return how much of some time of the session is sound of this stretch."""
        return min(end, self.sound_until) - max(start, self.session_s)


class SessionTimeline:
    """Seconds of a session as seconds of the recording, silence that was never sent taken into account."""

    def __init__(self) -> None:
        self._stretches: deque[_Stretch] = deque(maxlen=_STRETCHES)

    def anchor(self, session_s: float, recording_s: float) -> None:
        """Note that from this second of the session on, sound comes from that second of the recording."""
        if not self._stretches or abs(self.at(session_s) - recording_s) > 0.001:
            self._stretches.append(_Stretch(session_s, recording_s, session_s))

    def sounded(self, until: float) -> None:
        """Note that there was sound until this second of the session."""
        self._stretches[-1].sound_until = until

    def at(self, session_s: float) -> float:
        """Return the recording's second."""
        return _recorded(self._at(session_s), session_s)

    def within_sound(self, start: float, end: float) -> tuple[float, float]:
        """Return the recording's seconds of something that was said without a break, such as a word.

        It lies in the stretch of sound with which it has most in common: a word that seems to begin before sound comes
        back was not begun before the silence.
        """
        stretch = max(reversed(self._stretches), key=lambda each: round(each.common(start, end), 3))
        if stretch.common(start, end) <= 0:
            stretch = self._at((start + end) / 2)  # in silence altogether
        elif end > stretch.sound_until:
            end = stretch.sound_until
        return _recorded(stretch, max(start, stretch.session_s)), _recorded(stretch, end)

    def _at(self, session_s: float) -> _Stretch:
        return self._stretches[max(0, bisect_right(self._stretches, session_s, key=lambda each: each.session_s) - 1)]


def _recorded(stretch: _Stretch, session_s: float) -> float:
    return max(0.0, stretch.recording_s + session_s - stretch.session_s)


@dataclass(slots=True)
class _Known:
    """A draft, and the vendor's label of its voice."""

    segment: LiveSegment
    label: str | None


class Line:
    """What one session of a source has said so far."""

    def __init__(self, source: str, new_id: Callable[[float, float], str], label: Callable[[Line, str], int]) -> None:
        self.source = source
        self.timeline = SessionTimeline()
        self.start, self.end = 0.0, float("inf")  # what lies outside is another session's
        self._new_id, self._label = new_id, label
        self._ids: dict[str, str] = {}
        self._open: dict[str, _Known] = {}
        self._settled: set[str] = set()
        self._spans: deque[Span] = deque(maxlen=_SPANS)
        self.settled_until = 0.0  # the end of the last final

    def take(self, event: Onset | Draft | Settled) -> list[Event]:
        """Return the caller's events for a session's."""
        if isinstance(event, Onset):
            at = self.timeline.at(event.at)
            if event.key in self._ids or not self.start <= at < self.end:
                return []
            return [Started(self._id(event.key, at, at), self.source, at)]
        said = self._said(event.said)
        if isinstance(event, Draft):
            if said.key in self._settled:
                return []
            segment = self._segment(said)
            if segment is None:
                return self._taken_back(said.key)
            self._open[said.key] = _Known(segment, said.label)
            return [Partial(segment)]
        return self._settle(said)

    def heard(self, until: float) -> None:
        """Note that the vendor is through with the sound up to this second of the session."""
        self.settled_until = max(self.settled_until, self.timeline.at(until))

    def leftovers(self) -> list[LiveSegment]:
        """Return the drafts that no final followed, in order; they are not known here afterwards."""
        found = [known.segment for known in self._open.values()]
        self._open.clear()
        return sorted(found, key=lambda segment: segment.start)

    def spans(self) -> list[Span]:
        """Return when which of the vendor's voices spoke lately, drafts included. Seconds of the recording."""
        drafts = [(k.segment.start, k.segment.end, k.label) for k in self._open.values() if k.label]
        return [*self._spans, *drafts]

    def _said(self, said: Said) -> Said:
        """Return what was said in seconds of the recording; a segment begins and ends with words that have times."""
        words = []
        for word in said.words:
            start, end = self.timeline.within_sound(word.start, word.end)
            words.append(replace(word, start=start, end=end))
        if words:
            first, last = min(word.start for word in words), max(word.end for word in words)
            return replace(said, start=first, end=last, words=tuple(words))
        return replace(said, start=self.timeline.at(said.start), end=self.timeline.at(said.end))

    def _settle(self, said: Said) -> list[Event]:
        if said.label is not None and said.transcript.strip():
            self._spans.append((said.start, said.end, said.label))
        again = said.key in self._settled
        segment = self._segment(said)
        self._settled.add(said.key)
        self.settled_until = max(self.settled_until, said.end)
        if segment is None:
            return self._taken_back(said.key)
        self._open.pop(said.key, None)
        return [Revised(segment) if again else Final(segment)]

    def _taken_back(self, key: str) -> list[Event]:
        """Return the events that withdraw a draft that was shown."""
        known = self._open.pop(key, None)
        return [Partial(replace(known.segment, transcript="", words=()))] if known else []

    def _segment(self, said: Said) -> LiveSegment | None:
        """Return the part of it that lies in this line's time; None where nothing does."""
        part = within(said, self.start, self.end)
        if part is None:
            return None
        return LiveSegment(
            segment_id=self._id(said.key, part.start, part.end),
            source=self.source,
            start=round(part.start, 3),
            end=round(part.end, 3),
            transcript=part.transcript,
            confidence=part.confidence,
            words=tuple(replace(word, start=round(word.start, 3), end=round(word.end, 3)) for word in part.words),
            label=None if said.label is None else self._label(self, said.label),
            lang=said.lang,
        )

    def _id(self, key: str, start: float, end: float) -> str:
        if key not in self._ids:
            self._ids[key] = self._new_id(start, end)
        return self._ids[key]


def within(said: Said, start: float, end: float) -> Said | None:
    """Return the words of a segment whose middle lies in [start, end), with their punctuation; None where none does."""
    if not said.transcript.strip():
        return None
    if not said.words:
        return said if start <= (said.start + said.end) / 2 < end else None
    inside = [start <= (word.start + word.end) / 2 < end for word in said.words]
    if all(inside):
        return said
    for kept, part in runs(said.utterance(), inside):
        if kept:
            return replace(said, start=part.start, end=part.end, transcript=part.transcript, words=part.words)
    return None


def linked(ours: Iterable[tuple[float, float, int]], theirs: Iterable[Span]) -> Mapping[str, int]:
    """Return which of our labels each of another session's stands for, by the time they spoke at once.

    One to one, the pair with the most common speech first; pairs with hardly any stay apart.
    """
    common: dict[tuple[str, int], float] = {}
    mine = list(ours)
    for start, end, label in theirs:
        for begin, finish, number in mine:
            together = min(end, finish) - max(start, begin)
            if together > 0:
                common[label, number] = common.get((label, number), 0.0) + together
    found: dict[str, int] = {}
    for (label, number), seconds in sorted(common.items(), key=lambda item: -item[1]):
        if seconds >= _LEAST_COMMON_S and label not in found and number not in found.values():
            found[label] = number
    return found
