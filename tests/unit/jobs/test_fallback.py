"""The models that help out: who is asked when, and where a worker that was killed goes on."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from sederunt.errors import MediaError, ProviderError, ProviderFault
from sederunt.jobs.fallback import TRIES_EACH, Chain
from sederunt.jobs.job import Job
from sederunt.model.transcript import Transcript
from sederunt.transcription.models import Can, ModelRow, find

DONE = Transcript(segments=(), detected_lang="en")


def rows(*names: str) -> list[ModelRow]:
    found = [find(name) for name in names]
    return [row for row in found if row is not None]


class Desk:
    """Vendors that fail as told, and the history of a resource."""

    def __init__(self, **errors: Exception) -> None:
        self.errors, self.asked = errors, list[str]()
        self.noted = list[Mapping[str, Any]]()

    def chain(self, *names: str, delivered: int = 1) -> Chain:
        job = Job(kind="transcribe", id=UUID(int=1), resource="bot", delivered=delivered, cut_off=asyncio.Event())
        fallen_to = [note["next_model"] for note in self.noted]
        return Chain(rows(*names), fallen_to=fallen_to, job=job, note=self.note)

    async def note(self, data: Mapping[str, Any]) -> None:
        self.noted.append(data)

    async def transcribe(self, row: ModelRow) -> Transcript:
        self.asked.append(row.identifier)
        if error := self.errors.get(row.identifier):
            raise error
        return DONE


def refused() -> ProviderError:
    return ProviderError("Deepgram refused to transcribe (400).", retryable=False)


def away() -> ProviderError:
    return ProviderError("Deepgram could not transcribe just now (503).", retryable=True)


async def test_the_first_model_that_can_transcribes_and_nothing_is_told_of_others() -> None:
    desk = Desk()
    chain = desk.chain("vendor2", "vendor8")
    assert await chain.first_that_can(desk.transcribe) == DONE
    assert (desk.asked, desk.noted, chain.told) == (["vendor2"], [], {})


async def test_a_refusal_is_for_good_and_the_history_says_who_and_why() -> None:
    desk = Desk(vendor2=refused(), vendor8=refused())
    chain = desk.chain("vendor2", "vendor8", "vendor1")
    assert await chain.first_that_can(desk.transcribe) == DONE
    assert desk.asked == ["vendor2", "vendor8", "vendor1"]
    assert [(note["model"], note["next_model"]) for note in desk.noted] == [
        ("vendor2", "vendor8"),
        ("vendor8", "vendor1"),
    ]
    assert "refused" in desk.noted[0]["message"]
    assert chain.told == {"transcribed_by": "vendor1"}


async def test_the_last_one_fails_as_without_any_others() -> None:
    desk = Desk(vendor2=refused(), vendor8=refused())
    with pytest.raises(ProviderError):
        await desk.chain("vendor2", "vendor8").first_that_can(desk.transcribe)
    assert len(desk.noted) == 1


async def test_a_vendor_that_is_away_is_waited_for_first() -> None:
    desk = Desk(vendor2=away())
    for delivered in range(1, TRIES_EACH):
        with pytest.raises(ProviderError):
            await desk.chain("vendor2", "vendor8", delivered=delivered).first_that_can(desk.transcribe)
    assert desk.noted == []
    assert await desk.chain("vendor2", "vendor8", delivered=TRIES_EACH).first_that_can(desk.transcribe) == DONE
    assert desk.asked[-2:] == ["vendor2", "vendor8"]


async def test_the_next_model_gets_as_many_tries() -> None:
    desk = Desk(vendor2=refused(), vendor8=away())
    for delivered in range(1, 2 * TRIES_EACH):
        with pytest.raises(ProviderError):
            await desk.chain("vendor2", "vendor8", "vendor1", delivered=delivered).first_that_can(desk.transcribe)
    assert desk.asked.count("vendor2") == 1, "a worker that comes later begins where the history ends"
    assert await desk.chain("vendor2", "vendor8", "vendor1", delivered=10).first_that_can(desk.transcribe) == DONE


async def test_sound_that_nobody_can_read_is_given_to_nobody_else() -> None:
    desk = Desk(vendor2=MediaError("broken"))
    with pytest.raises(MediaError):
        await desk.chain("vendor2", "vendor8").first_that_can(desk.transcribe)
    assert desk.asked == ["vendor2"]


def unknown_model() -> ProviderError:
    return ProviderError("ElevenLabs refused (400).", retryable=False, kind=ProviderFault.UNKNOWN_MODEL)


async def test_a_model_that_the_vendor_no_longer_has_goes_on_as_its_successor() -> None:
    desk = Desk(vendor6=unknown_model())
    chain = desk.chain("vendor6", "vendor8")
    assert await chain.first_that_can(desk.transcribe) == DONE
    assert desk.asked == ["vendor6", "vendor6-v2"]
    assert [(note["model"], note["next_model"]) for note in desk.noted] == [("vendor6", "vendor6-v2")]
    assert chain.told == {"transcribed_by": "vendor6-v2"}


async def test_a_worker_that_was_killed_goes_on_with_the_successor() -> None:
    desk = Desk(vendor6=unknown_model())
    desk.errors["vendor6-v2"] = away()
    with pytest.raises(ProviderError):
        await desk.chain("vendor6", "vendor8").first_that_can(desk.transcribe)
    del desk.errors["vendor6-v2"]
    await desk.chain("vendor6", "vendor8").first_that_can(desk.transcribe)
    assert desk.asked == ["vendor6", "vendor6-v2", "vendor6-v2"]


async def test_a_successor_is_asked_for_no_more_than_the_model_that_was_requested_could_do() -> None:
    successors: list[ModelRow] = []

    async def transcribe(row: ModelRow) -> Transcript:
        if row.identifier == "vendor6":
            raise unknown_model()
        successors.append(row)
        return DONE

    await Desk().chain("vendor6").first_that_can(transcribe)
    assert Can.VOCABULARY not in successors[0].can


async def test_any_other_refusal_does_not_bring_the_successor_in() -> None:
    desk = Desk(vendor6=refused())
    await desk.chain("vendor6", "vendor8").first_that_can(desk.transcribe)
    assert desk.asked == ["vendor6", "vendor8"]
