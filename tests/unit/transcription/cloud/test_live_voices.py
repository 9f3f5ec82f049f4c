"""Live words whose voice the vendor does not know: they go on with the voice before them, and cut nobody short."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sederunt.transcription.access import Access
from sederunt.transcription.assemblyai.stream import AssemblyCodec
from sederunt.transcription.cloud.vendor import Ask, StreamCodec, asked
from sederunt.transcription.deepgram.stream import DeepgramCodec
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Settled
from sederunt.transcription.soniox.stream import SonioxCodec
from sederunt.transcription.speechmatics.stream import SpeechmaticsCodec

WORDS = ("Ask", "not", "what", "for")


def ask(model: str) -> Ask:
    row = find(model)
    assert row is not None
    return asked(row, Access(key="k", label="x"), lang="en", vocabulary=(), mask_profanity=False, mixed=True)


def deepgram(labels: list[Any]) -> list[dict[str, Any]]:
    words = [
        {"word": word, "start": n, "end": n + 0.5, "speaker": None if label is None else int(label)}
        for n, (word, label) in enumerate(zip(WORDS, labels, strict=True))
    ]
    channel = {"alternatives": [{"transcript": "", "confidence": 0.9, "words": words}]}
    return [{"type": "Results", "is_final": True, "start": 0.0, "duration": 4.0, "channel": channel}]


def assemblyai(labels: list[Any]) -> list[dict[str, Any]]:
    words = [
        {"text": word, "start": n * 1000, "end": n * 1000 + 500, "speaker": label or "UNKNOWN"}
        for n, (word, label) in enumerate(zip(WORDS, labels, strict=True))
    ]
    return [{"type": "Turn", "turn_order": 0, "end_of_turn": True, "turn_is_formatted": True, "words": words}]


def speechmatics(labels: list[Any]) -> list[dict[str, Any]]:
    results = [
        {
            "type": "word",
            "start_time": n,
            "end_time": n + 0.5,
            "alternatives": [{"content": word, "confidence": 0.9, "speaker": label or "UU"}],
        }
        for n, (word, label) in enumerate(zip(WORDS, labels, strict=True))
    ]
    end = {"end_time": 4.0}
    return [{"message": "AddTranscript", "results": results, "metadata": end}, {"message": "EndOfTranscript"}]


def soniox(labels: list[Any]) -> list[dict[str, Any]]:
    tokens = [
        {"text": f" {word}", "start_ms": n * 1000, "end_ms": n * 1000 + 500, "is_final": True, "speaker": label}
        for n, (word, label) in enumerate(zip(WORDS, labels, strict=True))
    ]
    return [{"tokens": tokens, "finished": True}]


STREAMS: dict[str, tuple[Callable[[Ask], StreamCodec], str, Callable[[list[Any]], list[dict[str, Any]]]]] = {
    "deepgram": (DeepgramCodec, "deepgram-realtime", deepgram),
    "assemblyai": (AssemblyCodec, "assembly-ai-realtime", assemblyai),
    "speechmatics": (SpeechmaticsCodec, "speechmatics-realtime", speechmatics),
    "soniox": (SonioxCodec, "soniox-realtime", soniox),
}


def spoken(vendor: str, labels: list[Any]) -> list[tuple[str | None, str]]:
    """Each settled part's label and text."""
    codec, model, messages = STREAMS[vendor]
    stream = codec(ask(model))
    told = [each for message in messages(labels) for each in stream.read(json.dumps(message))]
    return [(each.said.label, each.said.transcript) for each in told if isinstance(each, Settled)]


@pytest.mark.parametrize("vendor", STREAMS)
def test_a_word_without_a_voice_has_that_of_the_word_before_it_else_of_the_next(vendor: str) -> None:
    assert spoken(vendor, ["4", "2", None, "2"]) == [("4", "Ask"), ("2", "not what for")]
    assert spoken(vendor, ["4", "2", None, "4"]) == [("4", "Ask"), ("2", "not what"), ("4", "for")]
    assert spoken(vendor, [None, "4", "4", "2"]) == [("4", "Ask not what"), ("2", "for")]
    assert spoken(vendor, [None, None, None, None]) == [(None, "Ask not what for")]


def test_a_word_of_two_pieces_has_the_voice_of_the_one_that_tells_it() -> None:
    pieces = [(" Ask", "4"), (" n", None), ("ot", "2"), (" what", "2")]
    tokens = [
        {"text": text, "start_ms": n * 100, "end_ms": n * 100 + 90, "is_final": True, "speaker": label}
        for n, (text, label) in enumerate(pieces)
    ]
    told = SonioxCodec(ask("soniox-realtime")).read(json.dumps({"tokens": tokens, "finished": True}))
    said = [(each.said.label, each.said.transcript) for each in told if isinstance(each, Settled)]
    assert said == [("4", "Ask"), ("2", "not what")]
