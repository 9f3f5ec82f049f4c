"""From what a handler raises to what becomes of its job."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast

import pytest
import structlog.testing

from sederunt.bus import held_job
from sederunt.bus.held_job import Done, Drop, JobDelivery, Outcome
from sederunt.errors import (
    BrokenMedia,
    DestinationError,
    NotFound,
    ObjectMissing,
    ProviderError,
    StorageMissing,
    Superseded,
)
from sederunt.jobs.context import WorkerContext
from sederunt.jobs.follow_ups import KINDS
from sederunt.jobs.job import GIVE_UP_PAUSE_S, Again, GiveUp, Job, handler_of, job_of, outcome_of
from sederunt.media.sandbox import ReaderStalled

TRANSCRIBE = KINDS["transcribe"]
ATTEND = KINDS["attend"]
RESOURCE_ID = "01890000-0000-7000-8000-000000000001"


def test_a_job_that_is_somebody_elses_is_left_to_them_and_one_whose_resource_is_gone_is_done() -> None:
    assert outcome_of(Superseded("another host"), ATTEND, 1) == held_job.Leave()
    assert outcome_of(NotFound("deleted"), ATTEND, 1) == Done()


@pytest.mark.parametrize(
    "error",
    [
        GiveUp("no use"),
        BrokenMedia("damaged"),
        ProviderError("bad key", retryable=False),
        DestinationError("private", retryable=False),
    ],
)
def test_a_fault_that_will_not_pass_ends_the_job_at_once(error: Exception) -> None:
    assert outcome_of(error, TRANSCRIBE, 1) == Drop()


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("busy", retryable=True),
        DestinationError("503", retryable=True),
        OSError("disk"),
        ReaderStalled("no core"),
    ],
)
def test_a_fault_that_may_pass_is_tried_again_after_a_growing_pause(error: Exception) -> None:
    pauses = []
    for delivered in range(1, (TRANSCRIBE.times or 0)):
        outcome = outcome_of(error, TRANSCRIBE, delivered)
        assert isinstance(outcome, held_job.Redeliver)
        pauses.append(outcome.after_s)
    assert pauses == sorted(pauses)
    assert pauses[0] < 10 < 1000 < pauses[-1]


def test_the_last_attempt_gives_up() -> None:
    assert outcome_of(OSError("disk"), TRANSCRIBE, TRANSCRIBE.times or 0) == Drop()


def test_what_the_storage_lacks_is_looked_for_some_minutes_and_not_hours() -> None:
    missing = ObjectMissing("There is no recordings/1/source in the storage.")
    outcomes = [outcome_of(missing, TRANSCRIBE, delivered) for delivered in range(1, 6)]
    pauses = [outcome.after_s for outcome in outcomes if isinstance(outcome, held_job.Redeliver)]
    assert 120 < sum(pauses) < 900
    assert outcomes[-1] == Drop()


def test_a_bucket_that_is_not_there_is_waited_for_like_one_that_is_away() -> None:
    away = StorageMissing("no such bucket")
    assert [outcome_of(away, TRANSCRIBE, tries) for tries in range(1, 9)] == [
        outcome_of(OSError("away"), TRANSCRIBE, tries) for tries in range(1, 9)
    ]


def test_a_bot_is_brought_back_as_often_as_its_row_says() -> None:
    assert outcome_of(OSError("database away"), ATTEND, 10_000) == held_job.Redeliver(ATTEND.pauses_s[-1])


def test_a_handler_names_its_own_pause() -> None:
    assert outcome_of(Again(42, "no room"), TRANSCRIBE, 10_000) == held_job.Redeliver(42)


class Notes:
    """In place of a house: what was done with a job, by its delivery."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.given_up: list[str] = []
        self.can_be_told = True
        self.error: Exception = OSError("disk full")
        self.count = 0
        self.can_be_counted = True
        self.beginnings = self

    async def begin(self, kind: str, resource_id: object) -> int:
        if not self.can_be_counted:
            raise OSError("database is locked")
        self.count += 1
        return self.count

    async def forget(self, resource_id: object) -> None:
        self.count = 0


async def begin(job: Job, notes: Notes) -> None:
    notes.begun.append(job.delivered)
    raise notes.error


async def give_up(job: Job, notes: Notes, error: BaseException) -> None:
    if not notes.can_be_told:
        raise OSError("disk full")
    notes.given_up.append(str(error))


def deliver_to(notes: Notes) -> Callable[[int], Awaitable[Outcome]]:
    """Give the same job out for the n-th time."""
    kind = replace(TRANSCRIBE, work=f"{__name__}:begin", give_up=f"{__name__}:give_up")
    handle = handler_of(kind, cast(WorkerContext, notes))
    return lambda nth: handle(JobDelivery(kind="transcribe", message={"id": RESOURCE_ID}, delivered=nth))


async def test_a_job_that_must_be_what_ends_its_workers_is_given_up_and_not_begun() -> None:
    notes = Notes()
    notes.count = 24
    assert await deliver_to(notes)(25) == Drop()
    assert notes.begun == []
    assert "begun 24 times" in notes.given_up[0]


async def test_that_a_job_waited_before_is_no_try() -> None:
    """Fifteen recordings of one account waited for its share while the worker was restarted: all of them failed."""
    notes = Notes()
    assert isinstance(await deliver_to(notes)(90), held_job.Redeliver)
    assert notes.begun == [1]
    notes.can_be_counted = False
    assert isinstance(await deliver_to(notes)(91), held_job.Redeliver)
    notes.can_be_counted, notes.error = True, NotFound("deleted")
    assert await deliver_to(notes)(92) == Done()
    assert notes.count == 0, "nothing is kept of what is gone"


async def test_a_job_that_comes_back_because_nobody_could_be_told_is_not_taken_for_deadly() -> None:
    notes = Notes()
    deliver = deliver_to(notes)
    notes.can_be_told = False
    notes.count = 23
    assert await deliver(24) == held_job.Redeliver(GIVE_UP_PAUSE_S)
    notes.can_be_told = True
    assert await deliver(25) == Drop()
    assert (notes.begun, notes.given_up) == ([24, 25], ["disk full"])


@pytest.mark.parametrize(
    ("error", "level", "said"),
    [
        (DestinationError("no answer there", retryable=False), "warning", "no answer there"),
        (BrokenMedia("damaged"), "warning", "damaged"),
        (ProviderError("bad key", retryable=False), "error", "bad key"),
        (OSError("disk full"), "error", None),
    ],
)
async def test_what_a_caller_or_a_vendor_did_wrong_is_logged_as_a_sentence_and_no_traceback(
    error: Exception, level: str, said: str | None
) -> None:
    notes = Notes()
    notes.error, notes.count = error, (TRANSCRIBE.times or 0) - 1
    with structlog.testing.capture_logs() as logs:
        assert await deliver_to(notes)(TRANSCRIBE.times or 0) == Drop()
    (line,) = [entry for entry in logs if entry.get("action") == "job_given_up"]
    assert (line["log_level"], line.get("reason")) == (level, said)
    assert ("exc_info" in line) == (said is None)


def test_a_delivery_becomes_a_job() -> None:
    cut_off = asyncio.Event()
    message = {"id": RESOURCE_ID, "resource": "recording"}
    job = job_of(JobDelivery(kind="fetch", message=message, delivered=3, cut_off=cut_off))
    assert (str(job.id), job.resource, job.delivered, job.cut_off) == (RESOURCE_ID, "recording", 3, cut_off)
