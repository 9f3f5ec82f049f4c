"""Encode and decode the messages of Speechmatics' streams. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sederunt import foreign_json
from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.open_turn import OpenTurn, ReadPieces
from sederunt.transcription.cloud.reading import (
    OnceOnly,
    Voices,
    flag,
    number,
    record,
    records,
    spread,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.vendor import Ask, Finished, Message, Ready, StreamRefused, Told
from sederunt.transcription.sessions import Heard
from sederunt.transcription.speechmatics import requests
from sederunt.transcription.speechmatics.parse import Item, tokens

_F = ProviderFault
SPENT = "timelimit_exceeded"  # the contract's hours are used up
KINDS: Mapping[str, ProviderFault] = MappingProxyType(
    {
        "not_authorised": _F.AUTH,
        "not_allowed": _F.AUTH,
        "invalid_model": _F.INVALID_REQUEST,
        "invalid_config": _F.INVALID_REQUEST,
        "invalid_message": _F.INVALID_REQUEST,
        "invalid_audio_type": _F.INVALID_REQUEST,
        "invalid_output_format": _F.INVALID_REQUEST,
        "insufficient_funds": _F.PAYMENT,
        SPENT: _F.PAYMENT,
        "protocol_error": _F.INVALID_REQUEST,
        "quota_exceeded": _F.RATE_LIMITED,  # of concurrent sessions
    }
)
CLOSES: Mapping[int, ProviderFault] = MappingProxyType(
    {1003: _F.INVALID_REQUEST, 1008: _F.TRANSIENT, 4001: _F.AUTH, 4003: _F.AUTH, 4004: _F.INVALID_REQUEST}
    | {4005: _F.RATE_LIMITED, 4006: _F.PAYMENT, 4013: _F.TRANSIENT}
)


class SpeechmaticsCodec:
    """One stream. Final words come a few at a time; they are settled at the end of a sentence or an utterance."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._frames, self._is_heard = 0, False
        self._turn = OpenTurn(self._read_items)
        self._told = OnceOnly()

    def opening(self) -> Sequence[Message]:
        return (json.dumps(requests.stream(self._ask)),)

    def audio(self, pcm: bytes) -> Message:
        self._frames += 1
        return pcm

    def closing(self) -> Sequence[Message]:
        return (json.dumps({"message": "EndOfStream", "last_seq_no": self._frames}),)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(foreign_json.read(message))
        except ValueError:
            return ()
        self._is_heard |= body.get("message") in ("AddPartialTranscript", "AddTranscript")
        match body.get("message"):
            case "RecognitionStarted":
                return (Ready(),)
            case "AddPartialTranscript":
                return list(self._turn.draft(_items(body)))
            case "AddTranscript":
                return list(self._added(body))
            case "EndOfUtterance":
                end = number(record(body.get("metadata")).get("end_time"))
                return [*self._turn.settle(), *([Heard(end)] if end else [])]
            case "EndOfTranscript":
                return [*self._turn.settle(), Finished()]
            case "Error":
                code, reason = text(body.get("type")), text(body.get("reason"))
                return (StreamRefused(kind=self._kind(code), message=reason, code=code),)
        return ()

    def _kind(self, code: str) -> ProviderFault:
        """Return the class of an error. A session that has worked is opened once more: only a refused one proves that
        no hours are left.
        """
        return _F.TRANSIENT if code == SPENT and self._is_heard else KINDS.get(code, _F.TRANSIENT)

    def _added(self, body: Mapping[str, Any]) -> Iterator[Told]:
        results = self._told.fresh(_items(body), _identity)
        self._turn.final += results
        until = number(record(body.get("metadata")).get("end_time"))
        is_sentence_end = results and flag(results[-1].get("is_eos"))
        if is_sentence_end or self._turn.is_overdue(until, whole_words=True):
            yield from self._turn.settle()
        else:
            yield from self._turn.draft()
        if self._turn.final:
            until = min(until, number(self._turn.final[0].get("start_time"), until))
        yield Heard(until)

    def _read_items(self, items: Sequence[Item]) -> ReadPieces:
        voices = Voices()
        word_tokens = tokens(items, voices)
        return ReadPieces(
            utterances=utterances_of(word_tokens, pause_s=float("inf")),
            labels=voices.labels if self._ask.diarize else {},
        )


def _items(body: Mapping[str, Any]) -> Sequence[Item]:
    """Return the words of a message; if it has only a text, the words of that."""
    metadata = record(body.get("metadata"))
    start, end = number(metadata.get("start_time")), number(metadata.get("end_time"))
    return records(body.get("results")) or [
        {
            "type": "word",
            "start_time": token.word.start,
            "end_time": token.word.end,
            "alternatives": [{"content": token.word.word}],
        }
        for token in spread(text(metadata.get("transcript")), start, end)
    ]


def _identity(item: Item) -> tuple[float, float, str]:
    best = record(next(iter(records(item.get("alternatives"))), None))
    return number(item.get("start_time")), number(item.get("end_time")), text(best.get("content"))
