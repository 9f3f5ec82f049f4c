"""Convert one session's events to the recording's clock, ids and labels, within the time it answers for.

Pure: session events go in, events for the caller come out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from sederunt.transcription.live import Event, Final, LiveSegment, Partial, Revised, Started
from sederunt.transcription.sessions import Draft, Onset, Said, Settled
from sederunt.transcription.text import runs

# Stretches, with silence left out between them, that are kept; older ones concern nothing that is still open.
_STRETCHES = 256
# Last segments of a line by which voices are matched when the next session takes over.
_SPANS = 200
# Two labels are linked only by at least so much common speech, in seconds.
_LEAST_COMMON_S = 1.0

Span = tuple[float, float, str]  # start, end, the vendor's label


@dataclass(slots=True)
class _Stretch:
    """Sound, and the silence after it, that was sent without a gap."""

    session_s: float  # its start
    recording_s: float
    sound_until: float  # the start of its silence, in seconds of the session

    def common(self, start: float, end: float) -> float:
        """Return how much of a time range of the session is sound of this stretch."""
        return min(end, self.sound_until) - max(start, self.session_s)


class SessionTimeline:
    """Converts seconds of a session to seconds of the recording, including silence that was not sent."""

    def __init__(self) -> None:
        self._stretches: deque[_Stretch] = deque(maxlen=_STRETCHES)

    def anchor(self, session_s: float, recording_s: float) -> None:
        """Note that this second of the session is that second of the recording."""
        if not self._stretches or abs(self.at(session_s) - recording_s) > 0.001:
            self._stretches.append(_Stretch(session_s, recording_s, session_s))

    def sounded(self, until: float) -> None:
        """Note that there was sound until this second of the session."""
        self._stretches[-1].sound_until = until

    def at(self, session_s: float) -> float:
        """Return the recording's second."""
        return _recorded(self._at(session_s), session_s)

    def within_sound(self, start: float, end: float) -> tuple[float, float]:
        """Return the recording's seconds of something said without a break, such as a word.

        It belongs to the stretch of sound with which it overlaps most: a word that seems to begin before sound
        resumes did not begin before the silence.
        """
        stretch = max(reversed(self._stretches), key=lambda each: round(each.common(start, end), 3))
        if stretch.common(start, end) <= 0:
            stretch = self._at((start + end) / 2)  # entirely in silence
        elif end > stretch.sound_until:
            end = stretch.sound_until
        return _recorded(stretch, max(start, stretch.session_s)), _recorded(stretch, end)

    def _at(self, session_s: float) -> _Stretch:
        return self._stretches[
            max(0, bisect_right(self._stretches, session_s, key=lambda stretch: stretch.session_s) - 1)
        ]


def _recorded(stretch: _Stretch, session_s: float) -> float:
    return max(0.0, stretch.recording_s + session_s - stretch.session_s)


@dataclass(slots=True)
class _Known:
    """A draft, and the vendor's label of its voice."""

    segment: LiveSegment
    label: str | None


class Line:
    """The segments of one session of a source so far."""

    def __init__(self, source: str, new_id: Callable[[float, float], str], label: Callable[[Line, str], int]) -> None:
        self.source = source
        self.timeline = SessionTimeline()
        self.start, self.end = 0.0, float("inf")  # another session answers for the time outside
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
        session_segment = self._said(event.said)
        if isinstance(event, Draft):
            if session_segment.key in self._settled:
                return []
            segment = self._segment(session_segment)
            if segment is None:
                return self._taken_back(session_segment.key)
            self._open[session_segment.key] = _Known(segment, session_segment.label)
            return [Partial(segment)]
        return self._settle(session_segment)

    def heard(self, until: float) -> None:
        """Note that the vendor has finished with the sound up to this second of the session."""
        self.settled_until = max(self.settled_until, self.timeline.at(until))

    def leftovers(self) -> list[LiveSegment]:
        """Return the drafts that no final followed, in order, and forget them."""
        segments = [draft.segment for draft in self._open.values()]
        self._open.clear()
        return sorted(segments, key=lambda segment: segment.start)

    def spans(self) -> list[Span]:
        """Return when each of the vendor's voices spoke lately, including drafts. Seconds of the recording."""
        drafts = [(draft.segment.start, draft.segment.end, draft.label) for draft in self._open.values() if draft.label]
        return [*self._spans, *drafts]

    def _said(self, session_segment: Said) -> Said:
        """Return a segment in seconds of the recording; it begins and ends with its words, if they have times."""
        words = []
        for word in session_segment.words:
            start, end = self.timeline.within_sound(word.start, word.end)
            words.append(replace(word, start=start, end=end))
        if words:
            first, last = min(word.start for word in words), max(word.end for word in words)
            return replace(session_segment, start=first, end=last, words=tuple(words))
        return replace(
            session_segment, start=self.timeline.at(session_segment.start), end=self.timeline.at(session_segment.end)
        )

    def _settle(self, session_segment: Said) -> list[Event]:
        if session_segment.label is not None and session_segment.transcript.strip():
            self._spans.append((session_segment.start, session_segment.end, session_segment.label))
        is_revision = session_segment.key in self._settled
        segment = self._segment(session_segment)
        self._settled.add(session_segment.key)
        self.settled_until = max(self.settled_until, session_segment.end)
        if segment is None:
            return self._taken_back(session_segment.key)
        self._open.pop(session_segment.key, None)
        return [Revised(segment) if is_revision else Final(segment)]

    def _taken_back(self, key: str) -> list[Event]:
        """Return the events that withdraw a draft that was shown."""
        draft = self._open.pop(key, None)
        return [Partial(replace(draft.segment, transcript="", words=()))] if draft else []

    def _segment(self, session_segment: Said) -> LiveSegment | None:
        """Return the part of a segment in this line's time; None if there is none."""
        part = within(session_segment, self.start, self.end)
        if part is None:
            return None
        return LiveSegment(
            segment_id=self._id(session_segment.key, part.start, part.end),
            source=self.source,
            start=round(part.start, 3),
            end=round(part.end, 3),
            transcript=part.transcript,
            confidence=part.confidence,
            words=tuple(replace(word, start=round(word.start, 3), end=round(word.end, 3)) for word in part.words),
            label=None if session_segment.label is None else self._label(self, session_segment.label),
            lang=session_segment.lang,
        )

    def _id(self, key: str, start: float, end: float) -> str:
        if key not in self._ids:
            self._ids[key] = self._new_id(start, end)
        return self._ids[key]


def within(session_segment: Said, start: float, end: float) -> Said | None:
    """Return the words of a segment whose middle lies in [start, end), with their punctuation; None if none does."""
    if not session_segment.transcript.strip():
        return None
    if not session_segment.words:
        return session_segment if start <= (session_segment.start + session_segment.end) / 2 < end else None
    inside = [start <= (word.start + word.end) / 2 < end for word in session_segment.words]
    if all(inside):
        return session_segment
    for is_inside, part in runs(session_segment.utterance(), inside):
        if is_inside:
            return replace(
                session_segment, start=part.start, end=part.end, transcript=part.transcript, words=part.words
            )
    return None


def linked(ours: Iterable[tuple[float, float, int]], theirs: Iterable[Span]) -> Mapping[str, int]:
    """Return the label of ours that matches each of another session's labels, by simultaneous speech.

    One to one, beginning with the pair with most common speech; pairs with hardly any are not linked.
    """
    common: dict[tuple[str, int], float] = {}
    our_spans = list(ours)
    for start, end, label in theirs:
        for begin, finish, number in our_spans:
            common_s = min(end, finish) - max(start, begin)
            if common_s > 0:
                common[label, number] = common.get((label, number), 0.0) + common_s
    numbers: dict[str, int] = {}
    for (label, number), seconds in sorted(common.items(), key=lambda item: -item[1]):
        if seconds >= _LEAST_COMMON_S and label not in numbers and number not in numbers.values():
            numbers[label] = number
    return numbers
