"""AssemblyAI's requests, answers and messages, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.assemblyai import requests
from sederunt.transcription.assemblyai.faults import kind_of, refusal
from sederunt.transcription.assemblyai.parse import parse
from sederunt.transcription.assemblyai.stream import AssemblyCodec
from sederunt.transcription.assemblyai.vendor import state
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Progress
from sederunt.transcription.cloud.vendor import Ask, Finished, asked
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Draft, Heard, Settled


def ask(model: str = "assembly-ai", **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x"), **{**usual, **wishes})


def test_the_key_stands_alone() -> None:
    assert requests.headers(Access(key="k", label="x")) == {"authorization": "k"}


def test_a_language_is_given_or_found_and_never_both() -> None:
    given, found = requests.transcribe(ask(lang="pt-BR"), "u").json, requests.transcribe(ask(), "u").json
    assert (given["language_code"], "language_detection" in given) == ("pt", False)
    assert (found["language_detection"], "language_code" in found) == (True, False)


def test_a_stream_in_english_has_the_english_model_and_any_other_the_one_for_several() -> None:
    assert "speech_model=universal-streaming-english" in requests.stream(ask("assembly-ai-realtime", lang="en-GB"))
    several = requests.stream(ask("assembly-ai-realtime", vocabulary=["Sederunt"]))
    assert "speech_model=universal-streaming-multilingual&format_turns=true&language_detection=true" in several
    assert "keyterms_prompt=%5B%22Sederunt%22%5D" in several


def test_milliseconds_are_seconds_and_letters_are_numbers() -> None:
    words = [
        {"text": "Well,", "start": 500, "end": 900, "confidence": 0.9, "speaker": "B"},
        {"text": "yes.", "start": 1000, "end": 1400, "confidence": 0.7, "speaker": "A"},
    ]
    result = parse({"words": words, "language_code": "en_us"})
    assert [(each.speaker, each.start, each.transcript) for each in result.utterances] == [
        (0, 0.5, "Well,"),
        (1, 1.0, "yes."),
    ]
    assert result.detected_lang == "en"


@pytest.mark.parametrize("body", [{"words": None}, {"words": [None, 7, {"text": None}]}])
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def test_a_failure_comes_with_a_200_and_silence_is_none() -> None:
    assert state({"status": "queued"}) is Progress.RUNNING
    assert state({"status": "completed"}) is Progress.DONE
    silent = "language_detection cannot be performed on files with no spoken audio."
    assert state({"status": "error", "error": silent}) is Progress.DONE
    lost = state({"status": "error", "error": "Download error, unable to download x"})
    assert lost == Explained(message="Download error, unable to download x", kind=ProviderFault.MEDIA)


def turn(order: int, text: str, *, end: bool, formatted: bool = False, speaker: str = "A") -> str:
    words = [
        {"text": word, "start": 100 * n, "end": 100 * n + 90, "confidence": 0.9, "speaker": speaker}
        for n, word in enumerate(text.split())
    ]
    body = {"type": "Turn", "turn_order": order, "end_of_turn": end, "turn_is_formatted": formatted, "words": words}
    return json.dumps(body)


def settled(told: Any) -> list[str]:
    return [each.said.transcript for each in told if isinstance(each, Settled)]


def test_a_formatted_turn_takes_the_place_of_the_final_one() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime"))
    assert [each.said.transcript for each in codec.read(turn(0, "hello", end=False)) if isinstance(each, Draft)]
    assert settled(codec.read(turn(0, "hello there", end=True))) == []
    told = list(codec.read(turn(0, "Hello there.", end=True, formatted=True)))
    assert settled(told) == ["Hello there."]
    assert told[-1] == Heard(0.19)


def test_a_final_turn_whose_formatted_twin_never_comes_is_not_lost() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime"))
    codec.read(turn(0, "hello there", end=True))
    assert settled(codec.read(turn(1, "next", end=False))) == ["hello there"]
    codec.read(turn(1, "next one", end=True))
    told = list(codec.read(json.dumps({"type": "Termination"})))
    assert settled(told) == ["next one"]
    assert told[-1] == Finished()


def test_a_voice_that_was_another_is_settled_anew_under_the_same_key() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime"))
    (first, _) = codec.read(turn(0, "Hello.", end=True, formatted=True))
    revision = {**json.loads(turn(0, "Hello.", end=True, formatted=True, speaker="C")), "speaker_label": "C"}
    (again,) = codec.read(json.dumps({"type": "SpeakerRevision", "revisions": [revision]}))
    assert isinstance(first, Settled)
    assert isinstance(again, Settled)
    assert (first.said.key, first.said.label) == (again.said.key, "A")
    assert again.said.label == "C"


def voiced(order: int, *words: tuple[str, str | None], formatted: bool = True, whole: str = "") -> dict[str, Any]:
    spoken = [
        {"text": text, "start": 100 * n, "end": 100 * n + 90, "confidence": 0.9, "speaker": speaker}
        for n, (text, speaker) in enumerate(words)
    ]
    turn = {"type": "Turn", "turn_order": order, "end_of_turn": True, "turn_is_formatted": formatted, "words": spoken}
    return turn | ({"speaker_label": whole} if whole else {})


def revise(codec: AssemblyCodec, revision: dict[str, Any]) -> list[Any]:
    return list(codec.read(json.dumps({"type": "SpeakerRevision", "revisions": [revision]})))


def labels(told: Any) -> list[tuple[str, str | None]]:
    return [(each.said.transcript, each.said.label) for each in told if isinstance(each, Settled)]


def test_a_revision_finds_the_parts_of_its_turn_whatever_it_is_cut_into() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime", mixed=True))
    codec.read(json.dumps(voiced(0, ("Who", "A"), ("is", "A"), ("me?", "A"))))
    mostly = voiced(0, ("who", "B"), ("is", "B"), ("me", "A"))
    assert labels(revise(codec, mostly)) == [("Who is me?", "B")]
    assert revise(codec, mostly) == [], "nothing new"
    codec.read(json.dumps(voiced(1, ("Yes.", "A"), ("No.", "B"))))
    assert labels(revise(codec, voiced(1, ("Yes.", "B"), ("No.", "B")))) == [("Yes.", "B")]
    assert labels(revise(codec, {"turn_order": 1, "speaker_label": "C"})) == [("Yes.", "C"), ("No.", "C")]


def test_a_revision_reaches_a_turn_that_waits_for_its_formatted_twin() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime", mixed=True))
    codec.read(json.dumps(voiced(0, ("yes", "A"), formatted=False)))
    assert revise(codec, voiced(0, ("yes", "B"))) == []
    assert labels(codec.read(json.dumps(voiced(0, ("Yes.", "A"))))) == [("Yes.", "B")]


def test_a_word_without_a_voice_gives_nobody_anothers_words() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime", mixed=True))
    told = codec.read(json.dumps(voiced(0, ("Hello", "A"), ("yes", "B"), ("mm", None), whole="B")))
    assert labels(told) == [("Hello", "A"), ("yes mm", "B")]
    whole = codec.read(json.dumps(voiced(1, ("Well", None), whole="B")))
    assert labels(whole) == [("Well", "B")]


@pytest.mark.parametrize(
    ("code", "sentence", "kind"),
    [
        (1008, "Not Authorized", ProviderFault.AUTH),
        (1008, "Insufficient account balance", ProviderFault.PAYMENT),
        (1008, "Too many concurrent sessions", ProviderFault.RATE_LIMITED),
        (3005, "Server error", ProviderFault.TRANSIENT),
        (3007, "Input Duration Error", ProviderFault.INVALID_REQUEST),
        (3008, "Session Expired", ProviderFault.TRANSIENT),
    ],
)
def test_a_streams_error_is_read_by_its_words_and_then_its_code(code: int, sentence: str, kind: ProviderFault) -> None:
    assert kind_of(code, sentence) is kind


def test_an_empty_account_is_told_apart_from_a_wrong_key() -> None:
    assert refusal(401, {"error": "Your balance is empty"}).kind is ProviderFault.PAYMENT
    assert refusal(401, {"error": "Authentication error"}).kind is None


def test_a_turn_that_has_a_text_only_costs_no_word() -> None:
    codec = AssemblyCodec(ask("assembly-ai-realtime"))
    codec.read(turn(0, "one", end=True, formatted=True))
    body = {
        "type": "Turn",
        "turn_order": 1,
        "end_of_turn": "true",
        "turn_is_formatted": True,
        "transcript": "Well then.",
    }
    assert settled(codec.read(json.dumps(body))) == ["Well then."]
