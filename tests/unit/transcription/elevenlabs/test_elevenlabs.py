"""ElevenLabs' requests and answers, without a network."""

from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.vendor import Ask, asked
from sederunt.transcription.elevenlabs import requests
from sederunt.transcription.elevenlabs.parse import parse
from sederunt.transcription.elevenlabs.vendor import refusal
from sederunt.transcription.models import find

ACCESS = Access(key="k", label="the operator's key")


def ask(model: str = "elevenlabs-v2", **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, ACCESS, **{**usual, **wishes})


def test_a_language_is_sent_without_its_region_or_not_at_all() -> None:
    assert ("language_code", "pt") in requests.transcribe(ask(lang="pt-BR")).form
    assert "language_code" not in dict(requests.transcribe(ask(lang="multi")).form)
    assert ("language_code", "fil") in requests.transcribe(ask(lang="tl")).form


def test_custom_words_go_to_the_second_generation_alone() -> None:
    assert ("keyterms", "Sederunt") in requests.transcribe(ask(vocabulary=["Sederunt"])).form
    assert "keyterms" not in dict(requests.transcribe(ask("elevenlabs", vocabulary=["Sederunt"])).form)


def item(text: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    return {"text": text, "start": start, "end": end, "type": "word", "logprob": -0.1, **more}


def test_words_are_parted_by_space_items_alone() -> None:
    space = item(" ", 0.4, 0.5, type="spacing")
    words = [
        item("今日", 0.0, 0.2),
        item("は。", 0.2, 0.4),
        space,
        item("Yes", 0.5, 0.9),
        item("(door)", 1, 2, type="audio_event"),
    ]
    result = parse({"language_code": "jpn", "words": words})
    assert [utterance.transcript for utterance in result.utterances] == ["今日は。 Yes"]
    assert [word.word for word in result.utterances[0].words] == ["今日", "は。", "Yes"]
    assert result.detected_lang == "ja"
    assert result.utterances[0].words[0].confidence == pytest.approx(0.9048, abs=1e-3)


def test_voices_are_numbered_by_first_appearance() -> None:
    words = [item("Hi.", 0, 1, speaker_id="speaker_3"), item("Ho.", 1, 2, speaker_id="speaker_0")]
    assert [utterance.speaker for utterance in parse({"words": words}).utterances] == [0, 1]


@pytest.mark.parametrize("body", [{"words": None}, {"words": [None, 7, {"text": None}]}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (401, {"detail": {"status": "quota_exceeded", "message": "Empty."}}, ProviderFault.PAYMENT, "Empty."),
        (401, {"detail": {"status": "invalid_api_key", "message": "No."}}, None, "No."),
        (429, {"detail": {"status": "system_busy", "message": "Busy."}}, ProviderFault.RATE_LIMITED, "Busy."),
        (422, {"detail": [{"msg": "a"}, {"msg": "b"}]}, None, "a; b"),
        (422, {"detail": [{"loc": ["body", "model_id"], "msg": "Wrong"}]}, None, "model_id: Wrong"),
        (500, "<html>oops</html>", None, ""),
    ],
)
def test_a_refusal_is_read_by_its_word(status: int, body: Any, kind: ProviderFault | None, message: str) -> None:
    told = refusal(status, body)
    assert (told.kind, told.message) == (kind, message)
