"""Encode and decode the messages of Gladia's live sessions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sederunt import foreign_json
from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.reading import (
    Voices,
    average,
    flag,
    language,
    number,
    record,
    share,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.vendor import Acknowledged, Ask, Finished, Message, StreamRefused, Told
from sederunt.transcription.gladia.parse import tokens
from sederunt.transcription.sessions import Draft, Heard, Onset, Said, Settled, taken_back

STOP = json.dumps({"type": "stop_recording"})


class GladiaCodec:
    """One session, over as many connections as needed. Utterances have ids; voices are not told apart."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._open: dict[str, float] = {}  # drafted and not settled: id → start

    def opening(self) -> Sequence[Message]:
        return ()

    def audio(self, pcm: bytes) -> Message:
        return pcm

    def closing(self) -> Sequence[Message]:
        return (STOP,)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(foreign_json.read(message))
        except ValueError:
            return ()
        data = record(body.get("data"))
        match body.get("type"):
            case "transcript":
                return list(self._transcript(data))
            case "speech_start":
                start_s = number(data.get("time"))
                return (Onset(f"at {start_s:g}", start_s),)
            case "audio_chunk":
                byte_range = data.get("byte_range")
                if not flag(body.get("acknowledged")) or not isinstance(byte_range, list) or len(byte_range) < 2:
                    return ()
                return (Acknowledged(int(number(byte_range[1]))),)
            case "end_session":
                return (Finished(),)
            case "error":
                reason = text(data.get("message")) or text(record(body.get("error")).get("message"))
                return (StreamRefused(kind=ProviderFault.TRANSIENT, message=reason, code=""),)
        return ()

    def _transcript(self, data: Mapping[str, Any]) -> Iterator[Told]:
        utterance = record(data.get("utterance"))
        key = text(data.get("id")) or f"at {number(utterance.get('start')):g}"
        part = self._said(key, utterance)
        if not flag(data.get("is_final")):
            self._open[key] = part.start
            yield Draft(part)
            return
        # A final may have an id of its own: drafts that began before its end belong to it.
        for draft in [open_key for open_key, start in self._open.items() if open_key == key or start < part.end]:
            del self._open[draft]
            if draft != key:
                yield taken_back(draft)
        yield Settled(part)
        yield Heard(part.end)

    def _said(self, key: str, utterance: Mapping[str, Any]) -> Said:
        parts = utterances_of(tokens({**utterance, "speaker": None}, Voices()), pause_s=float("inf"))
        words = tuple(word for part in parts for word in part.words)
        start = number(utterance.get("start"), words[0].start if words else 0.0)
        return Said(
            key=key,
            start=round(start, 3),
            end=round(max(start, number(utterance.get("end"), words[-1].end if words else start)), 3),
            transcript=" ".join(part.transcript for part in parts) or text(utterance.get("text")).strip(),
            confidence=share(utterance.get("confidence"), average(word.confidence for word in words)),
            words=words,
            lang=language(utterance.get("language")),
        )
