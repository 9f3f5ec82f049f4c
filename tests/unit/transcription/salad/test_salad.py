"""SaladCloud's requests and answers, without a network."""

from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Progress
from sederunt.transcription.cloud.vendor import Ask, asked
from sederunt.transcription.models import find
from sederunt.transcription.salad import requests
from sederunt.transcription.salad.parse import is_elsewhere, parse
from sederunt.transcription.salad.vendor import state


def ask(**wishes: Any) -> Ask:
    row = find("salad")
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x", organisation="acme"), **{**usual, **wishes})


@pytest.mark.parametrize(
    ("lang", "sent"), [(None, None), ("multi", None), ("de-CH", "de"), ("yue", "yue"), ("fil", "tl"), ("tlh", None)]
)
def test_a_language_is_never_guessed_for_a_wrong_one_is_a_translation(lang: str | None, sent: str | None) -> None:
    assert requests.submit(ask(lang=lang), "https://x/").json["input"].get("language_code") == sent


def test_addresses_hold_the_organisation_and_files_our_reference() -> None:
    wish = ask()
    assert requests.upload(wish).path.startswith("/organizations/acme/files/")
    assert requests.submit(wish, "u").path == "/api/public/organizations/acme/inference-endpoints/transcribe/jobs"
    assert requests.submit(ask(vocabulary=["a", "b c"]), "u").json["input"]["custom_vocabulary"] == "a, b c"


def test_words_come_before_sentences_and_sentences_before_nothing() -> None:
    word = {"word": "Ask", "start": 1.0, "end": 1.5, "score": 0.8, "speaker": "SPEAKER_02"}
    unaligned = {"word": "not", "speaker": "SPEAKER_02"}
    sentences = [{"text": "Ask not.", "start": 1.0, "end": 2.0, "speaker": "SPEAKER_02"}]
    result = parse({"text": "Ask not", "word_segments": [word, unaligned], "sentence_level_timestamps": sentences})
    assert [(each.transcript, each.speaker, each.start, each.end) for each in result.utterances] == [
        ("Ask not", 0, 1.0, 1.5)
    ]
    assert parse({"text": "…", "sentence_level_timestamps": sentences}).utterances[0].transcript == "Ask not."
    assert result.detected_lang is None


@pytest.mark.parametrize("body", [{"word_segments": [None, 7], "sentence_level_timestamps": "x"}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def test_a_large_answer_is_elsewhere() -> None:
    assert is_elsewhere({"url": "https://files/1.json", "duration": 1}) == "https://files/1.json"
    assert is_elsewhere({"text": "", "url": "https://files/1.json"}) is None


def test_a_success_may_be_a_failure() -> None:
    assert state({"status": "succeeded", "output": {"text": ""}}) is Progress.DONE
    assert state({"status": "created"}) is Progress.RUNNING
    hidden = state({"status": "succeeded", "output": {"error": "too long"}})
    assert hidden == Explained(message="too long", kind=ProviderFault.MEDIA)
    assert isinstance(state({"status": "cancelled"}), Explained)


def test_a_job_holds_the_transcript_and_is_deleted_beside_the_file() -> None:
    wish = ask()
    job, file = requests.job(wish, "7"), requests.file_name(wish)
    calls = [*requests.delete(wish.access, job.path), *requests.delete(wish.access, file)]
    assert [(call.method, call.path, call.root) for call in calls] == [
        ("DELETE", job.path, None),
        ("DELETE", requests.upload(wish).path, requests.STORAGE),
    ]
