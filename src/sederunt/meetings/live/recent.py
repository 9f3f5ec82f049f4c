"""What is known about a running meeting that helps to name who speaks."""

from collections.abc import Iterable
from dataclasses import replace

from sederunt.clock import Clock, unix_ms
from sederunt.meetings.live.lines import RECENT_S
from sederunt.meetings.record.recorder import Recorder
from sederunt.meetings.session.roster import Roster
from sederunt.model.participant import Participant
from sederunt.transcription.live import LiveSegment
from sederunt.transcripts.attribution import MeetingFacts


class RecordingClock:
    """Tells the time of a recording whose zero was at `started_ms`, in Unix milliseconds."""

    def __init__(self, clock: Clock, started_ms: int) -> None:
        self._clock, self.started_ms = clock, started_ms

    def now_ms(self) -> int:
        """Return Unix milliseconds."""
        return unix_ms(self._clock.now())

    def now_s(self) -> float:
        """Return seconds of the recording."""
        return (self.now_ms() - self.started_ms) / 1000


class RecentMeeting:
    """Reads roster and recorder of a running stay; only recent speaking marks."""

    def __init__(self, clock: RecordingClock, roster: Roster) -> None:
        self._clock, self._roster = clock, roster
        self.recorder: Recorder | None = None

    def facts(self, segments: Iterable[LiveSegment]) -> MeetingFacts:
        """Return who is here and who speaks, at the end of these segments or later."""
        # This host's clock may have been set back.
        now_s = max([self._clock.now_s(), *(segment.end for segment in segments)])
        since_s, started_ms = now_s - RECENT_S, self._clock.started_ms
        since_ms = started_ms + round(since_s * 1000)
        return MeetingFacts(
            duration_s=now_s,
            started_ms=started_ms,
            participants=[_lately(person, since_ms) for person in self._roster.fold.participants],
            links=self._roster.fold.sources,
            spans=self.recorder.spans(since_s) if self.recorder is not None else (),
        )


def _lately(person: Participant, since_ms: int) -> Participant:
    # Old events go, except for the last of them.
    old_count = sum(event.timestamp < since_ms for event in person.events)
    return replace(person, events=person.events[max(0, old_count - 1) :]) if old_count > 1 else person
