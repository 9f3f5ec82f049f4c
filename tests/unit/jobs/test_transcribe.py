"""What is told, and kept, of a transcription that has ended."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from obstore.store import MemoryStore

from sederunt.errors import ProviderError
from sederunt.jobs.job import Job
from sederunt.jobs.transcribe import MOST_DOUBTS, give_up, told_doubts
from sederunt.model.transcript import ENDS_EARLY, Doubt, Transcript
from sederunt.storage.objects import Objects
from sederunt.transcripts.vendor_memory import Owner, prefix_of

RESOURCE = UUID(int=7)


class Row:
    """A recording's row, as far as its end needs it."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def record_transition(self, *_arguments: object, data: Any) -> None:
        self.told.append(data)


async def test_of_a_transcription_given_up_nothing_is_kept_but_what_is_to_be_deleted_at_the_vendor() -> None:
    objects, row = Objects(MemoryStore()), Row()
    key = f"{prefix_of(RESOURCE)}file.json"
    owner = Owner(provider="salad", account_id=RESOURCE, credential_id=None).to_json()
    notes = {"begun": [], "replies": {"upload": {"url": "https://files.test/1?token=secret"}}, "copies": ["job:1"]}
    await objects.put(key, json.dumps({**owner, "files": {"1": notes}}).encode())
    job = Job(kind="transcribe", id=RESOURCE, resource="recording", delivered=12, cut_off=asyncio.Event())
    context = cast(Any, SimpleNamespace(objects=objects, recordings=row))
    await give_up(job, context, ProviderError("Salad is not there.", retryable=True))
    assert [data["message"] for data in row.told] == ["Salad is not there."]
    assert json.loads(await objects.get(key))["files"] == {"1": {"copies": ["job:1"]}}


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


def test_that_a_file_ends_early_is_told_among_very_many() -> None:
    doubts = [Doubt(start=10.0 * n, end=10.0 * n + 1, why="no word") for n in range(MOST_DOUBTS + 5)]
    early = Doubt(start=900.0, end=900.0, why=ENDS_EARLY)
    told = told_doubts(Transcript(segments=(), doubts=(*doubts, early)))["transcript_doubts"]
    assert len(told) == MOST_DOUBTS
    assert told[-1]["why"] == ENDS_EARLY
