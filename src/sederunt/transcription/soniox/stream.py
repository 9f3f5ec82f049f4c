"""Soniox's stream: its messages, both ways. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.reading import OnceOnly, Voices, flag, number, record, records, text, utterances_of
from sederunt.transcription.cloud.vendor import Ask, Finished, Message, StreamRefused, Told
from sederunt.transcription.sessions import Draft, Heard, Said, Settled, taken_back
from sederunt.transcription.soniox import requests
from sederunt.transcription.soniox.parse import MARKERS, Piece, language_of, words_of

KEEPALIVE = json.dumps({"type": "keepalive"})
END = ""  # an empty frame
_F = ProviderFault
KINDS: Mapping[int, ProviderFault] = MappingProxyType(
    {400: _F.INVALID_REQUEST, 401: _F.AUTH, 402: _F.PAYMENT, 403: _F.AUTH, 429: _F.RATE_LIMITED}
)


class SonioxCodec:
    """One stream. Final pieces come once, the others are replaced by each message; an endpoint settles what is final.

    Pieces that are final and not settled yet count as not heard: their sound is sent again, should the line be lost.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._turn = 0
        self._final: list[Piece] = []  # of this turn
        self._told_before = OnceOnly()
        self._drafted: set[str] = set()

    def opening(self) -> Sequence[Message]:
        return (json.dumps(requests.stream(self._ask)),)

    def audio(self, pcm: bytes) -> Message:
        return pcm

    def closing(self) -> Sequence[Message]:
        return (END,)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(json.loads(message))
        except ValueError:
            return ()
        if body.get("error_code"):
            return (_refused(body),)
        return list(self._told(body))

    def _told(self, body: Mapping[str, Any]) -> Iterator[Told]:
        pieces = records(body.get("tokens"))
        finals = self._told_before.fresh([piece for piece in pieces if _is_word(piece)], _identity)
        fresh = {id(piece) for piece in finals}
        is_over = flag(body.get("finished"))
        open_pieces: list[Piece] = []
        for piece in pieces:
            if text(piece.get("text")) in MARKERS:
                yield from self._settled()
            elif flag(piece.get("is_final")):
                if id(piece) in fresh:
                    self._final.append(piece)
            else:
                open_pieces.append(piece)
        if is_over:
            yield from self._settled()
        else:
            yield from self._drafts([*self._final, *open_pieces])
        until_ms = number(body.get("final_audio_proc_ms"))
        if self._final:
            until_ms = min(until_ms, number(self._final[0].get("start_ms"), until_ms))
        yield Heard(until_ms / 1000)
        if is_over:
            yield Finished()

    def _settled(self) -> Iterator[Told]:
        said = list(self._said(self._final))
        yield from self._taken_back({part.key for part in said})
        yield from (Settled(part) for part in said)
        self._final, self._drafted = [], set()
        self._turn += 1

    def _drafts(self, pieces: Sequence[Piece]) -> Iterator[Told]:
        said = list(self._said(pieces))
        keys = {part.key for part in said}
        yield from self._taken_back(keys)
        self._drafted = keys
        yield from (Draft(part) for part in said)

    def _taken_back(self, kept: set[str]) -> Iterator[Told]:
        for key in sorted(self._drafted - kept):
            yield taken_back(key)

    def _said(self, pieces: Sequence[Piece]) -> Iterator[Said]:
        voices = Voices()
        labels = {voices.number(piece.get("speaker")): piece.get("speaker") for piece in pieces}
        lang = language_of(pieces)
        for n, part in enumerate(utterances_of(words_of(pieces, voices), pause_s=float("inf"))):
            label = labels.get(part.speaker) if self._ask.diarize else None
            yield Said(
                key=f"{self._turn}.{n}",
                start=part.start,
                end=part.end,
                transcript=part.transcript,
                confidence=part.confidence,
                words=part.words,
                label=None if label is None else str(label),
                lang=lang,
            )


def _refused(body: Mapping[str, Any]) -> StreamRefused:
    """Read a refusal. A stream that lasted too long, or that Soniox cannot continue, is begun anew."""
    code, why = int(number(body.get("error_code"))), text(body.get("error_message"))
    kind = KINDS.get(code, _F.TRANSIENT)
    if code == 400 and "duration" in why.lower():
        kind = _F.TRANSIENT
    return StreamRefused(kind=kind, message=why, code=str(code))


def _is_word(piece: Piece) -> bool:
    return flag(piece.get("is_final")) and text(piece.get("text")) not in MARKERS


def _identity(piece: Piece) -> tuple[float, float, str]:
    return number(piece.get("start_ms")), number(piece.get("end_ms")), text(piece.get("text"))
