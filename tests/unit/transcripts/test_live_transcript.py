"""When what was told live is the transcript, and when the recording has to be transcribed again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from sederunt.model.bot import Gap
from sederunt.model.history import LIVE_TROUBLE, STATUS_UPDATE, Event
from sederunt.model.transcript import LiveLine, Segment, Utterance, Word
from sederunt.transcripts.live_transcript import UNHEARD_S, doubt, transcript_of_lines

HEARD = {"source": "7", "heard_s": 60.0}


def line(
    number: int, start: float, source: str = "7", *, voice: str = "ada", lasts_s: float = 1.0, word_s: float = 0.5
) -> LiveLine:
    end, text = start + lasts_s, f"line {number}"
    first = Word(word="line", start=start, end=start + word_s, confidence=0.9)
    said = Utterance(start=start, end=end, speaker=0, confidence=0.9, transcript=text, words=(first,))
    segment = Segment(start=start, end=end, speaker=0, confidence=0.9, transcript=text, utterances=(said,))
    return LiveLine(segment_id=f"1-{number}", revision=0, source=source, voice=voice, segment=segment)


def event(kind: str, **data: str) -> Event:
    return Event(id=1, event=kind, data=data, created_at=datetime.now(UTC))


def test_the_transcript_is_the_lines_by_time() -> None:
    lines = [line(2, 5.0), line(1, 1.0)]
    assert transcript_of_lines(lines).segments == (lines[1].segment, lines[0].segment)


def test_a_meeting_without_trouble_is_believed() -> None:
    harmless = [event(STATUS_UPDATE, old_status="recording", new_status="leaving"), event("recording_gap", cause="x")]
    gaps = [Gap(start=1, end=2, cause="page_crashed")]
    assert doubt([line(1, 1.0)], events=harmless, gaps=gaps, tracks=[HEARD]) is None
    assert doubt([], events=[], gaps=[], tracks=[]) is None, "nobody said anything"
    assert doubt([], events=[], gaps=[], tracks=[{"source": "7", "heard_s": UNHEARD_S - 0.1}]) is None, "a cough"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({"events": [event(LIVE_TROUBLE, message="The socket broke.")]}, "The socket broke."),
        ({"events": [event(STATUS_UPDATE, new_status="processing", cause="host_lost")]}, "host was lost"),
        ({"gaps": [Gap(start=1, end=9, cause="host_lost")]}, "host was lost"),
        ({"tracks": [HEARD, {"source": "8", "heard_s": UNHEARD_S}]}, "heard of 8"),
    ],
)
def test_what_may_be_missing_is_named(found: Mapping[str, Sequence[Any]], why: str) -> None:
    assert why in str(doubt([line(1, 1.0)], **{"events": [], "gaps": [], "tracks": [HEARD], **found}))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([line(1, 10.0, lasts_s=20.1, word_s=20.1)], "one word lasts from 10.0 to 30.1 s"),
        ([line(1, 1.0, lasts_s=4), line(2, 3.0)], "until 5.0 s goes on behind 3.0 s"),
    ],
)
def test_times_that_nobody_can_have_spoken_at_are_doubted(lines: list[LiveLine], why: str) -> None:
    assert why in str(doubt(lines, events=[], gaps=[], tracks=[HEARD]))


def test_people_may_talk_at_once_and_lines_may_touch() -> None:
    lines = [line(1, 1.0, lasts_s=4), line(2, 3.0, voice="ben"), line(3, 3.0, source="8"), line(4, 4.9)]
    assert doubt(lines, events=[], gaps=[], tracks=[HEARD]) is None
