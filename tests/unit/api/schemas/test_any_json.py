"""Whatever JSON a caller sends, a body is read without any exception but InvalidConfig, and faults name their field."""

import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sederunt.api.schemas.faults import Faults, read
from sederunt.api.schemas.requests import (
    Body,
    BotFields,
    CapacityFields,
    ChatFields,
    RecordingFields,
    changed_config,
    new_config,
    recording_config,
    start_of,
)
from sederunt.api.transport.bodies import parse_json
from sederunt.api.transport.uploads import form_values
from sederunt.clock import SYSTEM_CLOCK
from sederunt.errors import InvalidConfig
from sederunt.model.bot import BotConfig, Service
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.registry import parse_link, services

EXAMPLES = settings(max_examples=80 + 20 * int(os.environ.get("FUZZ_SECONDS", "0")), deadline=None)
BEFORE = BotConfig(service=Service("zoom"), meeting_url="https://zoom.us/j/1", bot_name="B", transcription_model="none")

# As a JSON parser delivers them: lone halves of surrogate pairs, endless numbers and odd keys included.
strings = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["", "gmeet", "whisper", "none", "https://meet.google.com/abc-defg-hij", "\ud800", "\x00", "true", "en"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | strings | st.sampled_from([10**400, -(10**400)])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4), max_leaves=12
)
URLS = st.text(st.characters(), max_size=60).map(lambda rest: "https://" + rest)


def bodies(model: type[Body]) -> st.SearchStrategy[Any]:
    names = [field.alias or name for name, field in model.model_fields.items()]
    return st.dictionaries(st.sampled_from(names) | strings, values, max_size=8) | values


def named(faults: Faults, model: type[Body]) -> bool:
    """Whether every fault stands under a field of the model, says something, and names it."""
    known = {"body", *model.model_fields}
    return all(
        name.partition(".")[0] in known
        and sentences
        and all(name == "body" or sentence.startswith(f"{name} ") for sentence in sentences)
        for name, sentences in faults.items()
    )


@EXAMPLES
@given(body=bodies(BotFields))
def test_a_bot_of_any_json(body: Any) -> None:
    found = read(BotFields, body)
    assert named(found.faults, BotFields)
    config = new_config(found.fields)
    start_of(found.fields, SYSTEM_CLOCK.now())
    if not found.faults:
        assert config.meeting_url == body["meeting_url"]
    json.dumps(found.faults)


@EXAMPLES
@given(body=bodies(BotFields))
def test_a_change_of_any_json(body: Any) -> None:
    found = read(BotFields, body, partial=True)
    assert named(found.faults, BotFields)
    changed_config(BEFORE, found.fields)


@pytest.mark.parametrize("field", list(BotFields.model_fields))
@settings(max_examples=20, deadline=None)
@given(value=values)
def test_any_value_in_each_field_of_a_bot_spoils_that_field_alone(field: str, value: Any) -> None:
    good = {"service": "zoom", "meeting_url": "https://zoom.us/j/1", "bot_name": "B", "transcription_model": "none"}
    found = read(BotFields, {**good, field: value})
    assert {name.partition(".")[0] for name in found.faults} <= {field}
    assert named(found.faults, BotFields)


@EXAMPLES
@given(body=bodies(RecordingFields))
def test_a_recording_of_any_json(body: Any) -> None:
    found = read(RecordingFields, body)
    assert named(found.faults, RecordingFields)
    if found.fields.transcription_model is not None:
        recording_config(found.fields)


@EXAMPLES
@given(
    fields=st.dictionaries(
        st.sampled_from([*RecordingFields.model_fields, "custom_vocabulary[]"]) | strings,
        st.lists(st.text(max_size=30) | values.map(lambda value: json.dumps(value)), min_size=1, max_size=3),
        max_size=6,
    )
)
def test_a_recording_of_any_form(fields: dict[str, list[str]]) -> None:
    found = read(RecordingFields, form_values(RecordingFields, fields))
    assert named(found.faults, RecordingFields)
    if found.fields.transcription_model is not None:
        recording_config(found.fields)


@pytest.mark.parametrize("model", [ChatFields, CapacityFields])
@EXAMPLES
@given(data=st.data())
def test_small_bodies_of_any_json(model: type[Body], data: st.DataObject) -> None:
    assert named(read(model, data.draw(bodies(model))).faults, model)


@EXAMPLES
@given(body=st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_json_or_refused(body: bytes) -> None:
    faults: Faults = {"body": []}
    try:
        parse_json(body)
    except InvalidConfig as error:
        faults = error.fields
    assert list(faults) == ["body"]


@pytest.mark.parametrize("body", [b"NaN", b'{"a": Infinity}', b"[" * 100_000, b"1" * 10_000, b"", b" ", b"\xff"])
def test_what_other_parsers_take_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidConfig):
        parse_json(body)


def test_a_body_of_a_million_parts_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidConfig, match="too many parts"):
        parse_json(b'{"custom_vocabulary": [' + b"1," * 60_000 + b"1]}")
    assert parse_json(b'{"reference": "' + b"yes, " * 40_000 + b'"}')["reference"]


@EXAMPLES
@given(service=st.sampled_from(services()), text=URLS | strings)
def test_any_text_is_a_link_or_refused_with_a_sentence(service: Service, text: str) -> None:
    try:
        said = f"{parse_link(service, text).service}."
    except InvalidLink as refusal:
        said = str(refusal)
    assert said.endswith(".")
