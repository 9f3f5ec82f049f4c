"""The tables of jobs fit together."""

import pytest

from sederunt.bus.streams import QUEUES
from sederunt.jobs.follow_ups import FOLLOW_UPS, KINDS, NEEDED, NEEDED_BY_RECORDINGS, JobKind
from sederunt.model.status import ACTIVE, AT_WORK, ENDINGS, BotStatus


def test_every_queue_has_a_kind_that_works_through_it() -> None:
    assert KINDS.keys() == QUEUES.keys()


def test_every_follow_up_is_a_kind_of_job() -> None:
    assert {subject.removeprefix("job.") for subject in FOLLOW_UPS.values()} <= KINDS.keys()


def test_every_status_that_does_not_last_has_a_job_that_ends_it() -> None:
    assert NEEDED.keys() == ACTIVE | AT_WORK
    assert NEEDED.keys() == set(BotStatus) - ENDINGS - {BotStatus.SCHEDULED}
    assert set(NEEDED.values()) | set(NEEDED_BY_RECORDINGS.values()) <= KINDS.keys()


def test_a_follow_up_is_the_job_its_status_needs() -> None:
    for status, subject in FOLLOW_UPS.items():
        assert subject == f"job.{NEEDED[status]}"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_that_may_be_found_deadly_can_tell_its_resource(kind: JobKind) -> None:
    assert kind.is_deadly(10_000) == (kind.times is not None)
    assert kind.times is None or kind.give_up is not None
    assert kind.times is None or not kind.is_deadly(kind.times + 6), "drains and restarts count as deliveries too"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kinds_functions_live_in_modules_of_ours(kind: object) -> None:
    for target in (kind.work, kind.give_up):  # type: ignore[attr-defined]
        if target is not None:
            module, _, function = target.partition(":")
            assert module.startswith("sederunt.jobs.")
            assert function.isidentifier()
