"""The strings of a form mean what the same field means in JSON."""

import pytest

from sederunt.api.schemas.faults import read
from sederunt.api.schemas.requests import RecordingFields
from sederunt.api.transport.uploads import form_values


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"profanity_filter": ["true"]}, "profanity_filter", True),
        ({"profanity_filter": ["0"]}, "profanity_filter", False),
        ({"custom_vocabulary": ["one"]}, "custom_vocabulary", ("one",)),
        ({"custom_vocabulary": ["one", "two"]}, "custom_vocabulary", ("one", "two")),
        ({"custom_vocabulary[]": ["[one"]}, "custom_vocabulary", ("[one",)),
        ({"custom_vocabulary": ['["one", "two"]']}, "custom_vocabulary", ("one", "two")),
        ({"lang": [""]}, "lang", None),
        ({"custom_vocabulary": [""]}, "custom_vocabulary", None),
        ({"profanity_filter": [""]}, "profanity_filter", False),
        ({"lang": ["de", "en"]}, "lang", "en"),
    ],
)
def test_a_form_is_read_as_json_would_be(fields: dict[str, list[str]], name: str, value: object) -> None:
    found = read(RecordingFields, form_values(RecordingFields, fields))
    assert found.faults == {}
    assert getattr(found.fields, name) == value


@pytest.mark.parametrize(
    ("fields", "faulty"),
    [
        ({"profanity_filter": ["yes"]}, "profanity_filter"),
        ({"custom_vocabulary": ['["one"']}, "custom_vocabulary"),
        ({"custom_vocabulary": ["[1]"]}, "custom_vocabulary"),
        ({"transcription_model": ["vendor2-v3"]}, "transcription_model"),
    ],
)
def test_a_wrong_form_names_its_field(fields: dict[str, list[str]], faulty: str) -> None:
    assert list(read(RecordingFields, form_values(RecordingFields, fields)).faults) == [faulty]
