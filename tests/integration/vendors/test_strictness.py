"""Every simulated vendor refuses a wrong key, a key in another vendor's form, unknown fields and broken sound."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from harness.vendors.catalogue import VENDORS
from harness.vendors.vendor import Vendor
from sederunt.practice.clips import SHIPPED

CLIENT = httpx2.Client(timeout=60)  # to make one costs a tenth of a second
JFK = (SHIPPED / "jfk.wav").read_bytes()


@dataclass(frozen=True, kw_only=True)
class Door:
    """How a vendor is asked to transcribe."""

    path: str
    key: Mapping[str, str]  # the header, with KEY in the place of the key
    options: Mapping[str, Any]
    form: str | None = None  # the part of a form that carries the options as JSON; None: the body is JSON
    sound: str | None = None  # the part of a form that carries the sound


BEARER = {"Authorization": "Bearer KEY"}
DOORS = {
    "assemblyai": Door(path="/v2/transcript", key={"Authorization": "KEY"}, options={"audio_url": "URL"}),
    "speechmatics": Door(
        path="/v2/jobs",
        key=BEARER,
        options={"type": "transcription", "transcription_config": {"language": "en"}},
        form="config",
        sound="data_file",
    ),
    "revai": Door(path="/speechtotext/v1/jobs", key=BEARER, options={"language": "en"}, form="options", sound="media"),
    "soniox": Door(path="/v1/transcriptions", key=BEARER, options={"model": "stt-async-v5", "audio_url": "URL"}),
    "gladia": Door(path="/v2/pre-recorded", key={"x-gladia-key": "KEY"}, options={"audio_url": "URL"}),
    "salad": Door(
        path="/api/public/organizations/practice-organisation/inference-endpoints/transcribe/jobs",
        key={"Salad-Api-Key": "KEY"},
        options={"input": {"url": "URL"}},
    ),
}
WRONG_KEYS: tuple[Mapping[str, str], ...] = (
    {"Authorization": "Basic KEY"},
    {"Authorization": "Bearer another"},
    {"x-api-key": "KEY"},
    {},
)


def ask(vendor: Vendor, door: Door, key: Mapping[str, str], sound: bytes, **more: Any) -> httpx2.Response:
    """Submit a job, with these options besides."""
    file_url = f"{vendor.url}/{vendor.jobs.keep(sound)}"
    options = json.loads(json.dumps({**door.options, **more}).replace("URL", file_url))
    headers = {name: value.replace("KEY", vendor.key) for name, value in key.items()}
    url = vendor.url + door.path
    if door.form is None or door.sound is None:
        return CLIENT.post(url, json=options, headers=headers)
    parts: dict[str, Any] = {door.form: (None, json.dumps(options)), door.sound: ("speech.wav", sound, "audio/wav")}
    return CLIENT.post(url, files=parts, headers=headers)


@pytest.mark.parametrize("name", DOORS)
def test_what_the_vendor_would_refuse_is_refused_and_noted(name: str) -> None:
    door = DOORS[name]
    with VENDORS[name]() as vendor:
        for key in WRONG_KEYS:
            assert ask(vendor, door, key, JFK).status_code == 401
        assert ask(vendor, door, door.key, JFK, unheard_of=1).status_code == 400
        assert ask(vendor, door, door.key, JFK, language=7, model=[], url={}).status_code == 400
        assert len(vendor.ledger.refusals) == len(WRONG_KEYS) + 2
        assert not vendor.ledger.billed
        assert ask(vendor, door, door.key, JFK).status_code in (200, 201)
        assert len(vendor.ledger.billed) == 1


@pytest.mark.parametrize("name", DOORS)
def test_a_job_of_what_is_no_recording_fails_and_costs_nothing(name: str) -> None:
    with VENDORS[name]() as vendor:
        made = ask(vendor, DOORS[name], DOORS[name].key, b"no recording at all")
        assert made.status_code in (200, 201)
        assert vendor.jobs.jobs[made.json()["id"]].failure
        assert not vendor.ledger.billed


def test_elevenlabs_takes_its_form_and_its_key_alone() -> None:
    with VENDORS["elevenlabs"]() as vendor:

        def convert(key: str = vendor.key, **fields: str) -> int:
            parts: dict[str, Any] = {"file": ("a.wav", JFK), **{name: (None, fields[name]) for name in fields}}
            return CLIENT.post(f"{vendor.url}/v1/speech-to-text", files=parts, headers={"xi-api-key": key}).status_code

        assert convert(key="another", model_id="scribe_v2") == 401
        assert convert() == 422
        assert convert(model_id="scribe_v2", unheard_of="1") == 422
        assert convert(model_id="scribe_v1") == 422, "removed"
        assert convert(model_id="scribe_v2", keyterms="Sederunt", seed="null") == 200
        assert len(vendor.ledger.billed) == 1
