"""Soniox's requests, answers and messages, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.vendor import Ask, Finished, StreamRefused, asked
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Draft, Heard, Settled
from sederunt.transcription.soniox import requests
from sederunt.transcription.soniox.parse import parse
from sederunt.transcription.soniox.stream import SonioxCodec
from sederunt.transcription.soniox.vendor import state


def ask(model: str = "soniox", **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x"), **{**usual, **wishes})


def piece(text: str, start_ms: int, end_ms: int, **more: Any) -> dict[str, Any]:
    return {"text": text, "start_ms": start_ms, "end_ms": end_ms, "confidence": 0.9, **more}


def test_the_key_is_in_the_handshake_and_never_in_a_message() -> None:
    assert requests.headers(Access(key="k", label="x")) == {"authorization": "Bearer k"}
    (opening,) = SonioxCodec(ask("soniox-realtime")).opening()
    assert "api_key" not in json.loads(opening)


def test_the_request_says_what_was_asked_for() -> None:
    wanted = requests.transcribe(ask(lang="pt-BR", vocabulary=["Sederunt"], mixed=False), "f1").json
    assert (wanted["language_hints"], wanted["context"]) == (["pt"], {"terms": ["Sederunt"]})
    assert wanted["enable_speaker_diarization"] is False
    assert "language_hints" not in requests.transcribe(ask(lang="multi"), "f1").json


def test_pieces_become_words_at_spaces_voices_and_scripts_without_spaces() -> None:
    tokens = [
        piece("Minu", 0, 100, speaker="2", language="en"),
        piece("tes.", 100, 300, speaker="2", language="en"),
        piece(" Yes", 400, 600, speaker="1", language="en"),
        piece(" 今日", 900, 1000, speaker="1", language="ja"),
        piece("は", 1000, 1100, speaker="1", language="ja"),
    ]
    result = parse({"tokens": tokens})
    assert [(each.speaker, each.transcript) for each in result.utterances] == [(0, "Minutes."), (1, "Yes 今日は")]
    assert [word.word for word in result.utterances[0].words] == ["Minutes"]
    assert (result.utterances[0].end, result.detected_lang) == (0.3, "en")


@pytest.mark.parametrize("body", [{"tokens": [None, 7, {"text": None}, {"text": []}]}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def told(codec: SonioxCodec, *tokens: dict[str, Any], done_ms: int, **more: Any) -> list[Any]:
    return list(codec.read(json.dumps({"tokens": tokens, "final_audio_proc_ms": done_ms, **more})))


def test_what_is_final_is_settled_at_the_endpoint_and_counts_as_heard_then() -> None:
    codec = SonioxCodec(ask("soniox-realtime"))
    first = told(codec, piece("Well", 200, 400, is_final=True), piece(" th", 400, 500, is_final=False), done_ms=450)
    assert [each.said.transcript for each in first if isinstance(each, Draft)] == ["Well th"]
    assert first[-1] == Heard(0.2)  # not beyond what is not settled yet
    second = told(codec, piece(" then.", 400, 700, is_final=True), piece("<end>", 0, 0, is_final=True), done_ms=900)
    assert [each.said.transcript for each in second if isinstance(each, Settled)] == ["Well then."]
    assert second[-1] == Heard(0.9)
    assert told(codec, done_ms=1000, finished=True)[-1] == Finished()


def test_a_draft_that_is_not_heard_any_more_is_taken_back() -> None:
    codec = SonioxCodec(ask("soniox-realtime"))
    told(codec, piece("Hm", 0, 100, is_final=False), done_ms=0)
    (taken, _) = told(codec, done_ms=200)
    assert isinstance(taken, Draft)
    assert taken.said.transcript == ""


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (401, "Incorrect API key", ProviderFault.AUTH),
        (402, "Balance", ProviderFault.PAYMENT),
        (429, "Limit", ProviderFault.RATE_LIMITED),
        (400, "Maximum audio duration exceeded", ProviderFault.TRANSIENT),
        (400, "Bad model", ProviderFault.INVALID_REQUEST),
        (503, "Cannot continue request (code 1).", ProviderFault.TRANSIENT),
    ],
)
def test_a_refusal_is_read_by_its_code(code: int, message: str, kind: ProviderFault) -> None:
    (refused,) = SonioxCodec(ask("soniox-realtime")).read(json.dumps({"error_code": code, "error_message": message}))
    assert isinstance(refused, StreamRefused)
    assert refused.kind is kind


def test_pieces_that_are_told_twice_count_once() -> None:
    codec = SonioxCodec(ask("soniox-realtime"))
    said = [piece("No", 200, 300, is_final=True), piece(" no", 300, 400, is_final=True)]
    told(codec, *said, done_ms=450)
    told(codec, *said, done_ms=450)
    ended = told(codec, piece("<end>", 0, 0, is_final=True), done_ms=900)
    assert [each.said.transcript for each in ended if isinstance(each, Settled)] == ["No no"]
    again = told(codec, *said, piece("<end>", 0, 0, is_final=True), done_ms=900)
    assert not [each for each in again if isinstance(each, Settled)]


def test_pieces_without_times_are_not_taken_for_each_other() -> None:
    codec = SonioxCodec(ask("soniox-realtime"))
    space = {"text": " ", "is_final": True}
    said = [piece("Well", 200, 300, is_final=True), space, piece("then", 400, 500, is_final=True), space]
    told(codec, *said, piece("yes", 600, 700, is_final=True), done_ms=800)
    ended = told(codec, space, piece("no", 900, 950, is_final=True), piece("<end>", 0, 0, is_final=True), done_ms=999)
    assert [each.said.transcript for each in ended if isinstance(each, Settled)] == ["Well then yes no"]


@pytest.mark.parametrize(("done_ms", "settled"), [(2000, []), (2700, ["Well"])])
def test_a_turn_without_an_endpoint_is_settled_after_a_pause(done_ms: int, settled: list[str]) -> None:
    codec = SonioxCodec(ask("soniox-realtime"))
    told(codec, piece("Well", 200, 400, is_final=True), done_ms=450)
    later = told(codec, done_ms=done_ms)
    assert [each.said.transcript for each in later if isinstance(each, Settled)] == settled


@pytest.mark.parametrize("status", ["error", "failed", "FAILED"])
def test_a_job_that_failed_is_over_by_either_word(status: str) -> None:
    told = state({"status": status, "error_message": "No audio", "error_type": "invalid_audio"})
    assert told == Explained(message="No audio", code="invalid_audio")
