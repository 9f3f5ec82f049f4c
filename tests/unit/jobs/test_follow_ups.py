"""The tables of jobs fit together."""

import ast
from pathlib import Path

import pytest

from sederunt.bus.streams import QUEUES
from sederunt.jobs.follow_ups import FOLLOW_UPS, KINDS, NEEDED, NEEDED_BY_RECORDINGS, JobKind
from sederunt.model.status import ACTIVE, AT_WORK, ENDINGS, BotStatus

SOURCE = Path(__file__).parents[3] / "src"


def test_every_queue_has_a_kind_that_works_through_it() -> None:
    assert KINDS.keys() == QUEUES.keys(), (
        "a kind of job has a row in KINDS (jobs/follow_ups.py) and in QUEUES (bus/streams.py)"
    )


def test_every_status_that_does_not_last_has_a_job_that_ends_it() -> None:
    assert NEEDED.keys() >= ACTIVE | AT_WORK
    lasting = {*ENDINGS, BotStatus.SCHEDULED}
    assert NEEDED.keys() == set(BotStatus) - lasting, "NEEDED (jobs/follow_ups.py) names the job of every other status"
    assert set(NEEDED.values()) | set(NEEDED_BY_RECORDINGS.values()) <= KINDS.keys()


def test_a_status_starts_the_job_that_the_one_before_it_did_not_need() -> None:
    """Joining, recording and leaving go on with the job of booting."""
    assert dict(FOLLOW_UPS) == {
        BotStatus.BOOTING: "job.attend",
        BotStatus.PROCESSING: "job.assemble",
        BotStatus.TRANSCRIBING: "job.transcribe",
    }


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kind_that_may_be_found_deadly_can_tell_its_resource(kind: JobKind) -> None:
    assert kind.is_deadly(10_000) == (kind.times is not None)
    assert kind.times is None or kind.give_up is not None
    assert kind.times is None or not kind.is_deadly(kind.times + 6), "drains and restarts count as deliveries too"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_kinds_functions_are_there(kind: JobKind) -> None:
    """They are named, not imported, so that a worker loads no browser: nothing else would find one missing."""
    for target in filter(None, (kind.work, kind.give_up)):
        module, _, function = target.partition(":")
        assert module.startswith("sederunt.jobs.")
        path = SOURCE / f"{module.replace('.', '/')}.py"
        assert path.exists(), f"KINDS names {target}: write {path.relative_to(SOURCE)}"
        defined = {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.AsyncFunctionDef)}
        assert function in defined, f"{path.relative_to(SOURCE)} has no 'async def {function}', which KINDS names"
