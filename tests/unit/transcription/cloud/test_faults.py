"""One form of errors: the right class, the vendor's words, the credential's name and never the key."""

from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.faults import Explained, Speaker, explain, names_unknown_model

SPEAKER = Speaker(title="Deepgram", label="the credential 0193", secrets=("s3cret",))


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (401, ProviderFault.AUTH, False),
        (403, ProviderFault.AUTH, False),
        (402, ProviderFault.PAYMENT, False),
        (400, ProviderFault.INVALID_REQUEST, False),
        (404, ProviderFault.INVALID_REQUEST, False),
        (409, ProviderFault.INVALID_REQUEST, False),
        (413, ProviderFault.MEDIA, False),
        (422, ProviderFault.INVALID_REQUEST, False),
        (429, ProviderFault.RATE_LIMITED, True),
        (408, ProviderFault.TRANSIENT, True),
        (500, ProviderFault.TRANSIENT, True),
        (504, ProviderFault.TRANSIENT, True),
    ],
)
def test_a_status_has_its_class(status: int, kind: ProviderFault, retryable: bool) -> None:
    error = SPEAKER.refusal("take the job", status, Explained())
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)


def test_the_sentence_names_the_credential_and_hides_the_key() -> None:
    error = SPEAKER.refusal("take the job", 401, Explained(message="No such key: s3cret.", code="INVALID_AUTH"))
    assert str(error) == "Deepgram did not accept the credential 0193 (401 INVALID_AUTH: No such key: …)."


def test_a_vendor_may_know_better_than_the_table() -> None:
    error = SPEAKER.refusal("x", 403, Explained(kind=ProviderFault.PAYMENT))
    assert error.kind is ProviderFault.PAYMENT


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": "Invalid API key"}, "Invalid API key", ""),
        ({"err_code": "INVALID_AUTH", "err_msg": "Invalid credentials."}, "Invalid credentials.", "INVALID_AUTH"),
        ({"detail": {"status": "quota_exceeded", "message": "No credit"}}, "No credit", "quota_exceeded"),
        ({"type": "t", "title": "Bad", "detail": "Too long", "status": 400}, "Too long", "400"),
        ({"detail": [{"loc": ["body"]}]}, "", ""),
        ("plain words", "plain words", ""),
        ("<!doctype html><h1>502</h1>", "", ""),
        (None, "", ""),
        ([1, 2], "", ""),
    ],
)
def test_every_shape_of_a_refusal_is_read(body: Any, message: str, code: str) -> None:
    assert explain(400, body) == Explained(message=message, code=code)


@pytest.mark.parametrize(
    "message",
    [
        "'scribe_v1' is not a valid model_id. Only 'scribe_v2' is.",
        "400 unsupported_model: Pick another.",
        "404 model_not_found: Model scribe_v1 not found",
        "model_id: Input should be 'scribe_v2' or 'scribe_v3'",
        "The model scribe_v1 has been removed on July 9",
        "Unknown model: scribe_v1",
        "scribe_v1 is no longer available",
        "model: expected one of scribe_v2, scribe_v3",
    ],
)
def test_a_refusal_of_the_model_is_recognised(message: str) -> None:
    assert names_unknown_model(message, "scribe_v1")


@pytest.mark.parametrize(
    "message",
    [
        "keyterms are not supported by scribe_v1",
        "Missing: file",
        "language_code: invalid",
        "model scribe_v1 takes no keyterms. diarize is invalid",
    ],
)
def test_a_refusal_of_something_else_says_nothing_of_the_model(message: str) -> None:
    assert not names_unknown_model(message, "scribe_v1")


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        (["language_config.languages.0: not one of them"], "language_config.languages.0: not one of them"),
        ([{"location": "body.context", "message": "Too long", "error_type": "x"}], "body.context: Too long"),
        ([{"loc": ["body", "x"], "msg": "a"}, {"message": "b"}, None, {}], "body.x: a; b"),
    ],
)
def test_what_exactly_was_refused_is_told(listed: Any, told: str) -> None:
    body = {"status_code": 400, "message": "Invalid request", "validation_errors": listed}
    assert explain(400, body).message == f"Invalid request: {told}"
