"""What the event of a finished transcript tells of stretches that may lack words."""

from sederunt.jobs.transcribe import MOST_DOUBTS, told_doubts
from sederunt.model.transcript import Doubt, Transcript


def test_doubts_are_told_with_from_to_and_why() -> None:
    doubts = (Doubt(start=3.0, end=5.5, why="no word"),)
    assert told_doubts(Transcript(segments=(), doubts=doubts)) == {
        "transcript_doubts": [{"start": 3.0, "end": 5.5, "why": "no word"}]
    }
    assert told_doubts(Transcript(segments=())) == {}


def test_of_very_many_the_longest_are_told_by_time() -> None:
    doubts = [Doubt(start=10.0 * n, end=10.0 * n + 1 + n / 100, why="no word") for n in range(MOST_DOUBTS + 5)]
    told = told_doubts(Transcript(segments=(), doubts=tuple(reversed(doubts))))["transcript_doubts"]
    assert [doubt["start"] for doubt in told] == [doubt.start for doubt in doubts[5:]]
