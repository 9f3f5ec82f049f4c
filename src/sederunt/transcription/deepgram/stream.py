"""Encode and decode the messages of Deepgram's streams. Pure."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sederunt import foreign_json
from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.reading import (
    Voices,
    flag,
    language,
    listed,
    number,
    record,
    records,
    share,
    spread,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.vendor import Ask, Finished, Message, StreamRefused, Told
from sederunt.transcription.deepgram.parse import tokens
from sederunt.transcription.sessions import Draft, Heard, Onset, Said, Settled, taken_back

KEEPALIVE = json.dumps({"type": "KeepAlive"})
CLOSE = json.dumps({"type": "CloseStream"})
_FINALS_KEPT = 500  # to recognise repeated and late finals: half an hour of the shortest windows


class DeepgramCodec:
    """One stream. Words come in windows that do not overlap: a window is drafted, redrafted, then final.

    A segment is the words of one voice in a window. Windows have no id, so a key is made of the window's number, or,
    for a window that becomes final after a later one, of its start.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._window, self._final_until, self._is_closing = 0, 0.0, False
        self._drafted: set[str] = set()  # keys of this window
        self._finals: deque[tuple[float, float]] = deque(maxlen=_FINALS_KEPT)  # start and end of each

    def opening(self) -> Sequence[Message]:
        return ()

    def audio(self, pcm: bytes) -> Message:
        return pcm

    def closing(self) -> Sequence[Message]:
        self._is_closing = True
        return (CLOSE,)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(foreign_json.read(message))
        except ValueError:
            return ()
        match body.get("type"):
            case "Results":
                return list(self._results(body))
            case "SpeechStarted":
                return (Onset(_key(str(self._window), 0), number(body.get("timestamp"))),)
            case "Metadata":  # the last message only after CloseStream
                return (Finished(),) if self._is_closing else ()
            case "Error":
                code, reason = text(body.get("variant")), text(body.get("description")) or text(body.get("message"))
                is_our_fault = code.startswith(("Schema", "Invalid", "DATA"))
                kind = ProviderFault.INVALID_REQUEST if is_our_fault else ProviderFault.TRANSIENT
                return (StreamRefused(kind=kind, message=reason, code=code),)
        return ()

    def _results(self, body: Mapping[str, Any]) -> Iterator[Told]:
        is_final = flag(body.get("is_final"))
        start = number(body.get("start"))
        end = start + number(body.get("duration"))
        best = record(next(iter(records(record(body.get("channel")).get("alternatives"))), None))
        if end <= self._final_until and self._final_until > 0:
            if is_final and not self._is_told(start, end):  # overtaken by the next window
                self._finals.append((start, end))
                yield from (Settled(part) for part in self._said(best, start, end, f"{start:.3f}s"))
            return
        parts = list(self._said(best, start, end, str(self._window)))
        dropped_keys = self._drafted - {part.key for part in parts}
        self._drafted = {part.key for part in parts}
        for key in sorted(dropped_keys):
            yield taken_back(key)
        for part in parts:
            yield Settled(part) if is_final else Draft(part)
        if not is_final:
            return
        self._drafted.clear()
        self._window += 1
        self._final_until = end
        self._finals.append((start, end))
        yield Heard(end)

    def _is_told(self, start: float, end: float) -> bool:
        """Return whether a final already covers at least half of this window."""
        half = (end - start) / 2
        return any(min(end, final_end) - max(start, final_start) >= half for final_start, final_end in self._finals)

    def _said(self, best: Mapping[str, Any], start: float, end: float, window: str) -> Iterator[Said]:
        lang = next((code for tag in listed(best.get("languages")) if (code := language(tag))), None)
        voices = Voices()
        words = tokens(best, voices) or spread(text(best.get("transcript")), start, end)
        labels = voices.labels
        for n, part in enumerate(utterances_of(words, pause_s=float("inf"))):
            label = labels.get(part.speaker) if self._ask.diarize else None
            yield Said(
                key=_key(window, n),
                start=part.start,
                end=part.end,
                transcript=part.transcript,
                confidence=part.confidence or share(best.get("confidence")),
                words=part.words,
                label=None if label is None else str(label),
                lang=lang,
            )


def _key(window: str, part: int) -> str:
    return f"{window}.{part}"
