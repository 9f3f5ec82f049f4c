"""Deepgram's stream: its messages, both ways. Pure."""

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
_FINALS_KEPT = 500  # to know one that is told again or late: half an hour of the shortest windows


class DeepgramCodec:
    """One stream. Words come in windows that do not overlap: a window is drafted, redrafted, then final.

    A segment is a window's words of one voice. Keys are made of the window's number, for windows have no name; a
    late one, behind which another is final already, is named by its begin.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._window, self._final_until, self._is_closing = 0, 0.0, False
        self._drafted: set[str] = set()  # keys of this window
        self._finals: deque[tuple[float, float]] = deque(maxlen=_FINALS_KEPT)  # begin and end of each

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
            case "Metadata":  # the last word only where it was asked for
                return (Finished(),) if self._is_closing else ()
            case "Error":
                code, why = text(body.get("variant")), text(body.get("description")) or text(body.get("message"))
                is_ours = code.startswith(("Schema", "Invalid", "DATA"))
                kind = ProviderFault.INVALID_REQUEST if is_ours else ProviderFault.TRANSIENT
                return (StreamRefused(kind=kind, message=why, code=code),)
        return ()

    def _results(self, body: Mapping[str, Any]) -> Iterator[Told]:
        is_final = flag(body.get("is_final"))
        start = number(body.get("start"))
        end = start + number(body.get("duration"))
        best = record(next(iter(records(record(body.get("channel")).get("alternatives"))), None))
        if end <= self._final_until and self._final_until > 0:
            if is_final and not self._is_told(start, end):  # overtaken by the window behind it
                self._finals.append((start, end))
                yield from (Settled(part) for part in self._said(best, start, end, f"{start:.3f}s"))
            return
        said = list(self._said(best, start, end, str(self._window)))
        gone = self._drafted - {part.key for part in said}
        self._drafted = {part.key for part in said}
        for key in sorted(gone):  # takes back what is not heard any more
            yield taken_back(key)
        for part in said:
            yield Settled(part) if is_final else Draft(part)
        if not is_final:
            return
        self._drafted.clear()
        self._window += 1
        self._final_until = end
        self._finals.append((start, end))
        yield Heard(end)

    def _is_told(self, start: float, end: float) -> bool:
        """Return whether a final already has half of this window, or more."""
        half = (end - start) / 2
        return any(min(end, told_end) - max(start, told_start) >= half for told_start, told_end in self._finals)

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
