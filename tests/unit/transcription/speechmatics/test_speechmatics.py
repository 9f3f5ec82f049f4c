"""Speechmatics' requests, answers and messages, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Progress
from sederunt.transcription.cloud.vendor import Ask, Finished, Ready, StreamRefused, asked
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Draft, Heard, Settled
from sederunt.transcription.speechmatics import requests
from sederunt.transcription.speechmatics.parse import parse
from sederunt.transcription.speechmatics.stream import SpeechmaticsCodec
from sederunt.transcription.speechmatics.vendor import refusal, state


def ask(model: str = "speechmatics", **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x"), **{**usual, **wishes})


def config(**wishes: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(dict(requests.submit(ask(**wishes)).form)["config"])
    return parsed


def test_a_language_that_is_found_without_certainty_is_taken_all_the_same() -> None:
    found = config()
    assert found["transcription_config"]["language"] == "auto"
    assert found["language_identification_config"] == {"low_confidence_action": "allow", "default_language": "en"}
    given = config(lang="zh-Hans", vocabulary=["Sederunt"])
    assert given["transcription_config"]["language"] == "cmn"
    assert given["transcription_config"]["additional_vocab"] == [{"content": "Sederunt"}]
    assert "language_identification_config" not in given


def test_a_stream_never_asks_for_detection() -> None:
    (opening,) = SpeechmaticsCodec(ask("speechmatics-realtime")).opening()
    assert json.loads(opening)["transcription_config"]["language"] == "en"


def item(content: str, start: float, *, mark: bool = False, speaker: str = "S1", **more: Any) -> dict[str, Any]:
    best = {"content": content, "confidence": 0.9, "speaker": speaker}
    kind = {"type": "punctuation", "attaches_to": "previous"} if mark else {"type": "word"}
    return {**kind, "start_time": start, "end_time": start + 0.4, "alternatives": [best], **more}


def test_marks_are_attached_as_they_say() -> None:
    results = [
        item("¿", 0, mark=True, attaches_to="next"),
        item("Qué", 0),
        item("?", 0.4, mark=True, is_eos=True),
        item("e", 1.0),
        item("-", 1.4, mark=True, attaches_to="both"),
        item("mail", 1.4),
        {"type": "something_new", "alternatives": [{"content": "x"}]},
        item("Ja", 2.0, speaker="UU"),
    ]
    result = parse({"results": results})
    assert [each.transcript for each in result.utterances] == ["¿Qué? e-mail Ja"]
    assert parse({"results": [item("No", 0, speaker="S2"), item("Si", 1)]}).utterances[1].speaker == 1


def test_the_language_is_the_one_of_most_of_the_time() -> None:
    def stretch(start: float, end: float, tag: str) -> dict[str, Any]:
        return {"start_time": start, "end_time": end, "alternatives": [{"language": tag, "confidence": 0.9}]}

    found = {"results": [stretch(0, 5, "en"), stretch(5, 60, "de")]}
    assert parse({"results": [], "metadata": {"language_identification": found}}).detected_lang == "de"
    assert parse({"results": [], "metadata": {"language_identification": {"error": "NO_SPEECH"}}}).detected_lang is None


def test_the_language_is_the_words_where_nothing_else_tells_it() -> None:
    words = [item(word, n) for n, word in enumerate(("hola", "bien", "okay"))]
    for word, tag in zip(words, ("es", "es", "en"), strict=True):
        word["alternatives"][0]["language"] = tag
    assert parse({"results": words, "metadata": {}}).detected_lang == "es"


@pytest.mark.parametrize("body", [{"results": [None, {"alternatives": 7}]}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def test_a_job_is_running_done_or_rejected_for_a_reason() -> None:
    assert state({"job": {"status": "running"}}) is Progress.RUNNING
    assert state({"job": {"status": "done"}}) is Progress.DONE
    rejected = state({"job": {"status": "rejected", "errors": [{"message": "no audio"}]}})
    assert rejected == Explained(message="no audio", code="rejected")
    silent = {"status": "rejected", "errors": [{"message": "No speech found for language identification"}]}
    assert state({"job": silent}) is Progress.DONE, "nobody speaks in it"


def read(codec: SpeechmaticsCodec, message: str, **more: Any) -> list[Any]:
    return list(codec.read(json.dumps({"message": message, **more})))


def test_words_are_settled_at_the_end_of_a_sentence_and_count_as_heard_then() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    assert read(codec, "RecognitionStarted") == [Ready()]
    drafts = read(codec, "AddPartialTranscript", results=[item("Well", 0.2)])
    assert [each.said.transcript for each in drafts if isinstance(each, Draft)] == ["Well"]
    first = read(codec, "AddTranscript", results=[item("Well", 0.2)], metadata={"end_time": 1.0})
    assert first[-1] == Heard(0.2)
    ending = [item("then", 1.0), item(".", 1.4, mark=True, is_eos=True)]
    second = read(codec, "AddTranscript", results=ending, metadata={"end_time": 2.0})
    assert [each.said.transcript for each in second if isinstance(each, Settled)] == ["Well then."]
    assert second[-1] == Heard(2.0)
    read(codec, "AddTranscript", results=[item("Yes", 2.0)], metadata={"end_time": 3.0})
    ended = read(codec, "EndOfUtterance", metadata={"end_time": 3.0})
    assert [each.said.transcript for each in ended if isinstance(each, Settled)] == ["Yes"]
    assert read(codec, "EndOfTranscript")[-1] == Finished()


@pytest.mark.parametrize(("heard_until", "settled"), [(1.5, []), (2.6, ["Well"])])
def test_words_whose_sentence_never_ends_are_settled_after_a_pause(heard_until: float, settled: list[str]) -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    read(codec, "AddTranscript", results=[item("Well", 0.2)], metadata={"end_time": 0.6})
    told = read(codec, "AddTranscript", results=[], metadata={"end_time": heard_until})
    assert [each.said.transcript for each in told if isinstance(each, Settled)] == settled
    assert told[-1] == Heard(heard_until if settled else 0.2)


def test_a_speaker_who_never_pauses_is_settled_all_the_same() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    for second in range(40):
        told = read(codec, "AddTranscript", results=[item("and", second)], metadata={"end_time": second + 0.5})
        if any(isinstance(each, Settled) for each in told):
            break
    assert 25 < second < 35


def test_the_end_says_how_many_frames_there_were() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    for _ in range(3):
        codec.audio(b"\0\0")
    assert json.loads(str(codec.closing()[0])) == {"message": "EndOfStream", "last_seq_no": 3}


def test_refusals_are_read_by_their_kind() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    kinds = {"not_authorised": ProviderFault.AUTH, "quota_exceeded": ProviderFault.RATE_LIMITED}
    for name, kind in {**kinds, "job_error": ProviderFault.TRANSIENT}.items():
        (refused,) = read(codec, "Error", type=name, reason="why")
        assert isinstance(refused, StreamRefused)
        assert refused.kind is kind
    spent = {"insufficient_funds": ProviderFault.PAYMENT, "timelimit_exceeded": ProviderFault.PAYMENT}
    for name, kind in {**spent, "invalid_output_format": ProviderFault.INVALID_REQUEST}.items():
        (refused,) = read(codec, "Error", type=name, reason="why")
        assert refused.kind is kind
    told = refusal(403, {"code": 403, "error": "Forbidden", "detail": "no rights"})
    assert (told.message, told.code) == ("no rights", "Forbidden")
    assert refusal(423, {"error": "Resource Locked"}).kind is ProviderFault.TRANSIENT


def test_a_session_that_worked_and_reached_a_limit_is_opened_once_more() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    read(codec, "AddTranscript", results=[item("Well", 0.2)], metadata={"end_time": 1.0})
    (refused,) = read(codec, "Error", type="timelimit_exceeded", reason="Usage quota reached")
    assert refused.kind is ProviderFault.TRANSIENT


def test_words_that_are_told_twice_count_once() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    sentence = [item("No", 0.2), item("no", 0.6), item(".", 0.8, mark=True, is_eos=True)]
    for _ in range(2):
        last = read(codec, "AddTranscript", results=sentence, metadata={"end_time": 1.0})
    assert not [each for each in last if isinstance(each, Settled)]
    ended = read(codec, "EndOfTranscript")
    assert not [each for each in ended if isinstance(each, Settled)]


def test_a_final_that_has_a_text_only_costs_no_word() -> None:
    codec = SpeechmaticsCodec(ask("speechmatics-realtime"))
    read(codec, "AddTranscript", metadata={"transcript": "Well then", "start_time": 1.0, "end_time": 2.0})
    (said, _) = read(codec, "EndOfTranscript")
    assert (said.said.transcript, said.said.start, said.said.end) == ("Well then", 1.0, 2.0)


def test_a_turn_that_is_nobodys_is_not_put_under_the_name_before_it() -> None:
    results = [item("One", 0), item("two", 0.4, speaker="UU"), item("Three", 5, speaker="UU"), item("Four", 9)]
    found = parse({"results": results}).utterances
    assert [(each.transcript, each.speaker) for each in found] == [("One two", 0), ("Three", 1), ("Four", 0)]
