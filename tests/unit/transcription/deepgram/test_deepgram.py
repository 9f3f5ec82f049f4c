"""Deepgram's requests, answers and messages, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.vendor import Ask, Finished, StreamRefused, asked
from sederunt.transcription.deepgram import requests
from sederunt.transcription.deepgram.parse import parse
from sederunt.transcription.deepgram.stream import DeepgramCodec
from sederunt.transcription.deepgram.vendor import VENDOR
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Draft, Heard, Onset, Settled

ACCESS = Access(key="k", label="the operator's key")


def ask(model: str, **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": False}
    return asked(row, ACCESS, **{**usual, **wishes})


def query(model: str, **wishes: Any) -> list[tuple[str, str]]:
    return list(requests.listen(ask(model, **wishes)).query)


def test_the_key_is_a_token() -> None:
    assert requests.headers(ACCESS) == {"authorization": "Token k"}


def test_each_generation_gets_its_own_field_for_custom_words() -> None:
    assert ("keywords", "Sederunt") in query("deepgram", vocabulary=["Sederunt"])
    assert ("keyterm", "Sederunt") in query("deepgram-v3", vocabulary=["Sederunt"])
    assert "keyterm" not in dict(query("deepgram", vocabulary=["Sederunt"]))
    weighed = [value for name, value in query("deepgram", vocabulary=["ISO:9001"]) if name == "keywords"]
    assert weighed == ["ISO", "9001"]


@pytest.mark.parametrize(
    ("model", "lang", "sent"),
    [
        ("deepgram", None, ("detect_language", "true")),
        ("deepgram", "auto", ("detect_language", "true")),
        ("deepgram", "multi", ("detect_language", "true")),
        ("deepgram-v3", "multi", ("language", "multi")),
        ("deepgram", "pt-br", ("language", "pt-BR")),
        ("deepgram-v3", "fr-FR", ("language", "fr")),
        ("deepgram-v3", "en_CA", ("language", "en")),
        ("deepgram", "nb-NO", ("language", "no")),
        ("deepgram", "xx", ("detect_language", "true")),
    ],
)
def test_the_language_is_given_or_found(model: str, lang: str | None, sent: tuple[str, str]) -> None:
    assert [pair for pair in query(model, lang=lang) if "language" in pair[0]] == [sent]


def test_a_stream_never_asks_for_detection() -> None:
    for model in ("deepgram-realtime", "deepgram-realtime-v3"):
        path = requests.stream(ask(model))
        assert "language=multi" in path
        assert "detect_language" not in path
    assert "language=de" in requests.stream(ask("deepgram-realtime", lang="de"))


def test_voices_and_profanity_only_where_asked_for() -> None:
    plain = dict(query("deepgram"))
    assert "diarize_model" not in plain
    assert "profanity_filter" not in plain
    wanted = dict(query("deepgram", mixed=True, mask_profanity=True))
    assert (wanted["diarize_model"], wanted["profanity_filter"]) == ("latest", "true")


def word(text: str, start: float, **more: Any) -> dict[str, Any]:
    return {"word": text.strip(".,").lower(), "punctuated_word": text, "start": start, "end": start + 0.4} | more


def reply(words: list[Any], **channel: Any) -> dict[str, Any]:
    alternative = {"transcript": "", "confidence": 0.9, "words": words}
    return {"metadata": {"request_id": "r"}, "results": {"channels": [{"alternatives": [alternative], **channel}]}}


def test_an_answer_becomes_utterances_by_voice() -> None:
    result = parse(
        reply(
            [
                word("Hello.", 0.0, confidence=0.99, speaker=3),
                word("Hi.", 1.0, confidence=0.9, speaker=1),
                word("Bye.", 5.0, confidence=0.9, speaker=3),
            ],
            detected_language="en-US",
        )
    )
    told = [(each.transcript, each.speaker, each.start) for each in result.utterances]
    assert told == [("Hello.", 0, 0.0), ("Hi.", 1, 1.0), ("Bye.", 0, 5.0)]
    assert result.detected_lang == "en"


def test_several_languages_are_counted_by_words() -> None:
    words = [word("hola", n, language="es") for n in range(3)] + [word("hello", 9, language="en")]
    body = reply(words)
    body["results"]["channels"][0]["alternatives"][0]["languages"] = ["es", "en"]
    assert parse(body).detected_lang == "es"


@pytest.mark.parametrize(
    "body",
    [
        {"results": {"channels": "none"}},
        {"results": {"channels": [{"alternatives": []}]}},
        {"results": {"channels": [{"alternatives": [{"words": None}]}]}},
        reply([]),
        reply([None, 7, {"word": None}, {"word": "  "}]),
    ],
)
def test_silence_and_nonsense_have_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def test_fields_of_another_type_than_yesterday_cost_no_words() -> None:
    result = parse(reply([{"word": "a", "start": "1.5", "end": None, "confidence": "0.7", "speaker": "x"}]))
    (only,) = result.utterances[0].words
    assert (only.start, only.end, only.confidence, only.speaker) == (1.5, 1.5, 0.7, 0)


def test_a_text_whose_words_are_missing_is_spread_over_its_time() -> None:
    body = reply([])
    body["metadata"] = {"duration": 2.0}
    body["results"]["channels"][0]["alternatives"][0] |= {"transcript": "Good morning.", "words": "none"}
    (only,) = parse(body).utterances
    assert (only.transcript, only.start, only.end) == ("Good morning.", 0.0, 2.0)
    assert [word.start for word in only.words] == [0.0, 1.0]


def results(words: list[dict[str, Any]], *, final: bool, start: float = 0.0, duration: float = 3.0) -> str:
    return json.dumps(
        {
            "type": "Results",
            "is_final": final,
            "start": start,
            "duration": duration,
            "channel": {"alternatives": [{"transcript": "", "confidence": 0.9, "words": words, "languages": ["en"]}]},
        }
    )


def test_a_window_is_drafted_and_settled_under_one_key_and_the_next_has_another() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime"))
    (draft,) = codec.read(results([word("Hel", 0.1)], final=False))
    settled, heard = codec.read(results([word("Hello.", 0.1)], final=True))
    assert isinstance(draft, Draft)
    assert isinstance(settled, Settled)
    assert draft.said.key == settled.said.key
    assert (settled.said.transcript, settled.said.lang, settled.said.label) == ("Hello.", "en", None)
    assert heard == Heard(3.0)
    (later, _) = codec.read(results([word("Bye.", 4.0)], final=True, start=3.0))
    assert isinstance(later, Settled)
    assert later.said.key != settled.said.key


def test_a_final_that_is_told_twice_and_a_draft_that_is_late_say_nothing_new() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime"))
    first = results([word("Hello.", 0.1)], final=True)
    assert len(list(codec.read(first))) == 2
    assert not list(codec.read(first))
    assert not list(codec.read(results([word("Hel", 0.1)], final=False, duration=2.0)))


def test_a_final_that_is_overtaken_by_the_next_keeps_its_words() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime"))
    first, second = results([word("One.", 0.1)], final=True), results([word("Two.", 3.1)], final=True, start=3.0)
    (draft,) = codec.read(results([word("Thr", 6.1)], final=False, start=6.0))
    assert isinstance(draft, Draft)
    told = [event for message in (second, first, first) for event in codec.read(message)]
    settled = [event.said for event in told if isinstance(event, Settled)]
    assert [(said.transcript, said.start) for said in settled] == [("Two.", 3.1), ("One.", 0.1)]
    assert len({draft.said.key, *(said.key for said in settled)}) == 2, "the draft was of the window that came first"
    assert [event for event in told if isinstance(event, Heard)] == [Heard(6.0)]


def test_two_voices_of_one_window_are_two_segments_with_the_vendors_labels() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime", mixed=True))
    told = list(codec.read(results([word("One.", 0, speaker=4), word("Two.", 1, speaker=2)], final=True)))
    assert [event.said.label for event in told if isinstance(event, Settled)] == ["4", "2"]


def test_a_word_without_a_voice_takes_no_label_away() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime", mixed=True))
    unknown = {**word("Mm.", 2), "speaker": None}
    words = [word("One.", 0, speaker=0), word("Two.", 1, speaker=1), unknown]
    labels = [event.said.label for event in codec.read(results(words, final=True)) if isinstance(event, Settled)]
    assert labels[:2] == ["0", "1"]


def test_a_draft_that_the_final_does_not_have_is_taken_back() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime", mixed=True))
    list(codec.read(results([word("One", 0, speaker=0), word("two", 1, speaker=1)], final=False)))
    told = list(codec.read(results([word("One", 0, speaker=0)], final=True)))
    said = [(type(event), event.said.transcript) for event in told if isinstance(event, Draft | Settled)]
    assert said == [(Draft, ""), (Settled, "One")]


@pytest.mark.parametrize("channels", [[], [{"alternatives": [], "detected_language": "en"}]])
def test_an_answer_with_utterances_only_costs_no_word(channels: list[Any]) -> None:
    said = [
        {"start": 0.0, "end": 1.0, "transcript": "Well then.", "speaker": 0},
        {"start": 2.0, "end": 3.0, "speaker": 1, "words": [{"word": "yes", "start": 2.0, "end": 2.5}]},
    ]
    found = parse({"results": {"channels": channels, "utterances": said}})
    assert [(each.transcript, each.speaker, each.start) for each in found.utterances] == [
        ("Well then.", 0, 0.0),
        ("yes", 1, 2.0),
    ]


def test_the_other_messages() -> None:
    codec = DeepgramCodec(ask("deepgram-realtime"))
    assert list(codec.read('{"type": "SpeechStarted", "timestamp": 2.5}')) == [Onset("0.0", 2.5)]
    assert list(codec.read('{"type": "Metadata", "duration": 0}')) == []  # before the end it ends nothing
    list(codec.closing())
    assert list(codec.read('{"type": "Metadata", "duration": 3}')) == [Finished()]
    told = list(codec.read('{"type": "Error", "variant": "SchemaError", "description": "odd"}'))
    assert told == [StreamRefused(kind=ProviderFault.INVALID_REQUEST, message="odd", code="SchemaError")]
    for odd in ('{"type": "New"}', "no json", "[1]", '{"type": "Results", "is_final": true, "channel": 7}'):
        assert not [event for event in codec.read(odd) if not isinstance(event, Heard)]


def test_sound_that_could_not_be_decoded_is_sent_to_another_session() -> None:
    assert VENDOR.live is not None
    assert VENDOR.live.closes == {1008: ProviderFault.TRANSIENT}
