"""When each person spoke, as currently believed: published marks may be withdrawn. Bounded in memory."""

from collections.abc import Iterable
from dataclasses import dataclass

from sederunt.claims.claim import Source
from sederunt.claims.rules import MARKS_KEPT_MS, MOST_MARKS
from sederunt.model.participant import SpeakingEvent, SpeakingKind


@dataclass(slots=True)
class Mark:
    """One stretch of speech; `stop_ms` is None while it goes on."""

    source: Source
    start_ms: int
    stop_ms: int | None = None


class SpeechMarks:
    """The marks of everybody, by person."""

    def __init__(self) -> None:
        self._marks: dict[str, list[Mark]] = {}
        self._speaking: set[str] = set()

    def __contains__(self, person: str) -> bool:
        return bool(self._marks.get(person))

    @property
    def speaking(self) -> frozenset[str]:
        """Return the people whose last mark is still open."""
        return frozenset(self._speaking)

    def of(self, person: str) -> tuple[Mark, ...]:
        return tuple(self._marks.get(person, ()))

    def is_silent_since(self, person: str, at_ms: int) -> bool:
        """Return whether none of a person's marks extends past a moment."""
        return all(mark.stop_ms is not None and mark.stop_ms <= at_ms for mark in self._marks.get(person, ()))

    @property
    def people(self) -> Iterable[str]:
        return self._marks.keys()

    def start(self, person: str, source: Source, at_ms: int) -> int:
        """Begin a mark after the person's published ones; return its start.

        No two events of a person share a moment: a reader that pairs them would take an empty mark for an open one.
        """
        marks = self._marks.setdefault(person, [])
        start_ms = max(at_ms, (marks[-1].stop_ms or 0) + 1 if marks else at_ms)
        marks.append(Mark(source, start_ms))
        if len(marks) > MOST_MARKS:
            del marks[0]
        self._speaking.add(person)
        return start_ms

    def stop(self, person: str, at_ms: int) -> int:
        """End the open mark; return its end."""
        mark = self._marks[person][-1]
        mark.stop_ms = max(at_ms, mark.start_ms + 1)
        self._speaking.discard(person)
        return mark.stop_ms

    def confirm(self, person: str, source: Source) -> None:
        """Note that another source confirms the open mark."""
        self._marks[person][-1].source = source

    def withdraw(self, weaker: Iterable[Source], since_ms: int, exempt: Iterable[str]) -> dict[str, int]:
        """Take back what these sources said since a moment, except about exempt people; return person → since when."""
        sources, exempt_people = frozenset(weaker), frozenset(exempt)
        withdrawals: dict[str, int] = {}
        for person, marks in self._marks.items():
            if person in exempt_people:
                continue
            for mark in marks:
                if mark.source in sources and (mark.stop_ms is None or mark.stop_ms > since_ms):
                    moment = max(mark.start_ms, since_ms)
                    withdrawals[person] = min(moment, withdrawals.get(person, moment))
                    if mark.stop_ms is None:
                        self._speaking.discard(person)
                    mark.stop_ms = moment
            self._marks[person] = [mark for mark in marks if mark.stop_ms is None or mark.stop_ms > mark.start_ms]
        return withdrawals

    def set_apart(self, source: Source, person: str, to: str) -> int | None:
        """Give one source's marks of a person to another person; return since when, None if it has no marks."""
        marks = self._marks.get(person, [])
        source_marks = [mark for mark in marks if mark.source is source]
        if not source_marks:
            return None
        self._marks[person] = [mark for mark in marks if mark.source is not source]
        self._marks[to] = source_marks
        if source_marks[-1].stop_ms is None:
            self._speaking.discard(person)
            self._speaking.add(to)
        return source_marks[0].start_ms

    def events(self, person: str) -> tuple[SpeakingEvent, ...]:
        """Return the person's marks as events, in order of time."""
        return tuple(
            SpeakingEvent(type=kind, timestamp=moment)
            for mark in self._marks.get(person, ())
            for kind, moment in ((SpeakingKind.STARTED, mark.start_ms), (SpeakingKind.STOPPED, mark.stop_ms))
            if moment is not None
        )

    def keep_last(self, person: str, most: int) -> None:
        """Keep only the last `most` marks of a person whom no source lists."""
        del self._marks[person][:-most]

    def move(self, person: str, to: str) -> None:
        """Give one person's marks to another, because both turned out to be one person."""
        marks = self._marks.pop(person, [])
        if person in self._speaking:
            self._speaking.discard(person)
            self._speaking.add(to)
        if marks:
            self._marks[to] = _joined(sorted([*self._marks.get(to, ()), *marks], key=lambda mark: mark.start_ms))

    def forget(self, before_ms: int) -> None:
        """Drop marks that ended long ago and are written; the last mark of each person stays."""
        for marks in self._marks.values():
            while len(marks) > 1 and (marks[0].stop_ms or before_ms) < before_ms - MARKS_KEPT_MS:
                del marks[0]


def _joined(marks: Iterable[Mark]) -> list[Mark]:
    # `marks` are sorted by start; the result has no overlaps.
    result: list[Mark] = []
    for mark in marks:
        last = result[-1] if result else None
        if last is not None and (last.stop_ms is None or mark.start_ms < last.stop_ms):
            last.stop_ms = None if last.stop_ms is None or mark.stop_ms is None else max(last.stop_ms, mark.stop_ms)
        else:
            result.append(mark)
    return result
