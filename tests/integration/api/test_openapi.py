"""The OpenAPI document against the running service: what it says is what is answered, for good and for bad requests."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from jsonschema_rs import Draft202012Validator
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.result import Ok

from harness.api_room import WAYS, ApiRoom, api_room, on_a_socket
from harness.documented import validator_of
from harness.fake_clock import FakeClock
from sederunt.api.openapi import PREFIX, document
from sederunt.api.routes import ROUTES
from sederunt.model.bot import Gap, Verdict
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import StopReason, Trigger
from sederunt.model.transcript import NameGuess, Segment, Transcript, Utterance, Word
from sederunt.settings import BusSettings

EXAMPLES = 12  # per operation and mode: some four hundred requests in all

# Some good-looking requests are refused for what no schema can say: the link is none of the service's meetings, the
# model's vendor has no key, the bot has no such status. Everything else is checked.
NOT_CHECKED = frozenset({"positive_data_acceptance"})


@pytest.fixture
async def room(tmp_path: Path, bus_settings: BusSettings, clock: FakeClock) -> AsyncIterator[ApiRoom]:
    """Without the limits that many requests would reach."""
    limits = {"concurrent_bots": 100_000, "requests_per_minute": 0}
    async with api_room(tmp_path / "data", bus_settings, clock, api=limits) as opened:
        yield opened


@pytest.mark.parametrize("mode", ["positive", "negative"])
async def test_every_operation_answers_as_the_document_says(room: ApiRoom, mode: str) -> None:
    async with on_a_socket(room.app) as port:
        await asyncio.to_thread(check_all, f"http://127.0.0.1:{port}{PREFIX}", room.key, mode)


def check_all(base_url: str, key: str, mode: str) -> None:
    load_all_checks()
    excluded = [CHECKS.get_one(name) for name in NOT_CHECKED]
    schema = schemathesis.openapi.from_url(f"{base_url}/openapi.json")
    schema.config.update(base_url=base_url)
    # Fields we do not know are ignored by decision; keys, wrong and missing, are tested in test_door.
    schema.config.generation.update(allow_extra_parameters=False, with_security_parameters=False)
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if mode == "negative" and not (list(operation.body) or list(operation.query)):
            continue  # nothing in it could be wrong
        strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def ask(case: Any) -> None:
            case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, excluded_checks=excluded)

        ask()


async def test_a_bot_with_everything_has_the_fields_of_its_schema_and_no_others(room: ApiRoom) -> None:
    made = await room.bot(realtime_audio=True, custom_metadata={"a": "b"}, lang="en", custom_vocabulary=["word"])
    bot_id = UUID(made["id"])
    now = room.clock.now()
    for trigger in WAYS["transcribing"]:
        await room.bots.record_transition(bot_id, trigger)
    spoke = SpeakingEvent(type=SpeakingKind.STARTED, timestamp=1)
    people = [
        Participant(key="a", name="Ada", avatar="https://a.example/a.png", first_seen_at=now, events=(spoke,)),
        Participant(key="b", name="Bo", avatar=None, first_seen_at=now),
    ]
    await room.bots.save_participants(bot_id, people)
    await room.bots.mark(
        bot_id,
        recording_object=f"bots/{bot_id}/recording.webm",
        recording_available_until=now,
        gaps=(Gap(start=1.5, end=2.5, cause="host_lost"),),
        capture={"backend": "encoded", "packets": 12},
        evidence={"screenshot": f"bots/{bot_id}/evidence/screenshot.png"},
        verdict=Verdict.HEALTHY,
    )
    await room.transcripts.save(bot_id, _TRANSCRIPT)
    await room.finish(bot_id, reason=StopReason.MEETING_ENDED, changes={"detected_lang": "en"})
    bot = await room.look(made, **{"with-speaker-events": "true"})
    check(bot, "Bot")
    check((await room.client.get("/bot")).json(), "BotList")
    check((await room.client.get(f"/bot/{bot_id}/pricing")).json(), "Pricing")


async def test_a_recording_with_everything_has_the_fields_of_its_schema_and_no_others(
    room: ApiRoom, wav: bytes
) -> None:
    made = await room.recording(wav, webhook_url="https://a.example/hook", lang="en")
    await room.transcripts.save(UUID(made["id"]), _TRANSCRIPT)
    await room.recordings.record_transition(UUID(made["id"]), Trigger.TRANSCRIBED, changes={"detected_lang": "en"})
    check((await room.client.get(f"/recording/{made['id']}")).json(), "Recording")
    check((await room.client.get("/recording")).json(), "RecordingList")


def check(answer: Any, name: str) -> None:
    """Against the document, with fields it does not know refused."""
    errors = validator_of({"$ref": f"#/components/schemas/{name}"}, document()).iter_errors(answer)
    assert [(error.message, error.instance_path) for error in errors] == []


_WORD = Word(word="Hello", start=0.1, end=0.4, confidence=0.9)
_SAID = Utterance(start=0.1, end=0.4, speaker=0, confidence=0.9, transcript="Hello", words=(_WORD,))
_TRANSCRIPT = Transcript(
    segments=(
        Segment(
            start=0.1,
            end=0.4,
            speaker=0,
            confidence=0.9,
            transcript="Hello",
            utterances=(_SAID,),
            speaker_name="Ada",
        ),
        Segment(
            start=1,
            end=2,
            speaker=1,
            confidence=1,
            transcript="Yes",
            potential_speaker_names=(NameGuess(name="Bo", confidence=0.6),),
        ),
    ),
    detected_lang="en",
)


def test_every_body_has_an_example_that_its_schema_takes() -> None:
    components = document()["components"]
    for operations in document()["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                content = operation["requestBody"]["content"]["application/json"]
                shape = {**content["schema"], "components": components}
                found = list(Draft202012Validator(shape, validate_formats=True).iter_errors(content.get("example")))
                assert found == [], operation["operationId"]


def test_operations_have_names_of_their_own_and_every_schema_is_used() -> None:
    described = document()
    items = [*described["paths"].values(), *described["webhooks"].values()]
    names = [operation["operationId"] for operations in items for operation in operations.values()]
    assert len(set(names)) == len(names)
    used = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert set(described["components"]["schemas"]) - used == set()


def test_every_route_is_described_once() -> None:
    described = {(method.upper(), path) for path, operations in document()["paths"].items() for method in operations}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert len({route.name for route in ROUTES}) == len(ROUTES)
