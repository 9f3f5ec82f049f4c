"""Rev.ai's requests and answers, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Progress
from sederunt.transcription.cloud.vendor import Ask, asked
from sederunt.transcription.models import find
from sederunt.transcription.revai import requests
from sederunt.transcription.revai.parse import parse, top_language
from sederunt.transcription.revai.vendor import refusal, state


def ask(**wishes: Any) -> Ask:
    row = find("rev-ai")
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x"), **{**usual, **wishes})


def options(lang: str | None = None, **wishes: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(dict(requests.submit(ask(**wishes), lang).form)["options"])
    return parsed


def test_the_options_say_what_was_asked_for() -> None:
    sent = options("es-MX", vocabulary=["acta"], mask_profanity=True, mixed=False)
    assert sent["language"] == "es"
    assert sent["custom_vocabularies"] == [{"phrases": ["acta"]}]
    assert (sent["filter_profanity"], sent["skip_diarization"]) == (True, True)
    assert "language" not in options()
    assert options("zh-Hans")["language"] == "cmn"


def text(value: str, at: float) -> dict[str, Any]:
    return {"type": "text", "value": value, "ts": at, "end_ts": at + 0.5, "confidence": 0.9}


def mark(value: str) -> dict[str, Any]:
    return {"type": "punct", "value": value}


def test_marks_belong_to_the_word_before_and_spaces_part_words() -> None:
    elements = [
        text("Well", 0),
        mark(", "),
        text("e", 0.5),
        mark("-"),
        text("mail", 1),
        mark("."),
        mark(" "),
        text("Yes", 1.5),
    ]
    body = {"monologues": [{"speaker": 4, "elements": elements}, {"speaker": 1, "elements": [text("No", 2)]}]}
    result = parse(body, lang="en")
    assert [(each.speaker, each.transcript) for each in result.utterances] == [(0, "Well, e-mail. Yes"), (1, "No")]
    assert [word.word for word in result.utterances[0].words] == ["Well", "e", "mail", "Yes"]


def test_words_of_an_answer_without_spaces_are_not_one_word() -> None:
    elements = [text("Ask", 0), text("not", 0.5), mark(","), text("what", 1), mark("."), text("Yes", 1.5)]
    (said,) = parse({"monologues": [{"speaker": 0, "elements": elements}]}).utterances
    assert said.transcript == "Ask not, what. Yes"


def test_the_spaces_of_one_monologue_tell_of_all() -> None:
    first = {"speaker": 0, "elements": [text("Ask", 0), mark(" "), text("not", 0.5)]}
    other = {"speaker": 1, "elements": [text("e", 1), mark("-"), text("mail", 1.5)]}
    assert [each.transcript for each in parse({"monologues": [first, other]}).utterances] == ["Ask not", "e-mail"]


@pytest.mark.parametrize("body", [{"monologues": [None, {"elements": 7}]}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()
    assert top_language(body) is None


def test_a_job_is_running_done_or_failed_for_a_reason() -> None:
    assert state({"status": "in_progress"}) is Progress.RUNNING
    assert state({"status": "transcribed"}) is Progress.DONE
    assert state({"status": "completed"}) is Progress.DONE
    failed = state({"status": "failed", "failure": "insufficient_balance", "failure_detail": "Pay."})
    assert failed == Explained(message="Pay.", code="insufficient_balance", kind=ProviderFault.PAYMENT)


def test_403_is_an_empty_account_and_not_a_wrong_key() -> None:
    assert refusal(403, {"title": "You do not have enough credits", "status": 403}).kind is ProviderFault.PAYMENT
    assert refusal(401, {"title": "Authorization has been denied", "status": 401}).kind is None
