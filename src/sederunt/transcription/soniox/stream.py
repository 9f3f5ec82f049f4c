"""Encode and decode the messages of Soniox's streams. Pure."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sederunt import foreign_json
from sederunt.errors import ProviderFault
from sederunt.transcription.cloud.open_turn import OpenTurn, ReadPieces
from sederunt.transcription.cloud.reading import OnceOnly, Voices, flag, number, record, records, text, utterances_of
from sederunt.transcription.cloud.vendor import Ask, Finished, Message, StreamRefused, Told
from sederunt.transcription.sessions import Heard
from sederunt.transcription.soniox import requests
from sederunt.transcription.soniox.parse import MARKERS, Piece, language_of, words_of

KEEPALIVE = json.dumps({"type": "keepalive"})
END = ""  # an empty frame
_F = ProviderFault
KINDS: Mapping[int, ProviderFault] = MappingProxyType(
    {400: _F.INVALID_REQUEST, 401: _F.AUTH, 402: _F.PAYMENT, 403: _F.AUTH, 429: _F.RATE_LIMITED}
)


class SonioxCodec:
    """One stream. Final pieces come once; each message replaces all others. An endpoint settles the turn."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._turn = OpenTurn(self._read_pieces)
        self._told_before = OnceOnly()

    def opening(self) -> Sequence[Message]:
        return (json.dumps(requests.stream(self._ask)),)

    def audio(self, pcm: bytes) -> Message:
        return pcm

    def closing(self) -> Sequence[Message]:
        return (END,)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(foreign_json.read(message))
        except ValueError:
            return ()
        if body.get("error_code"):
            return (_refused(body),)
        return list(self._told(body))

    def _told(self, body: Mapping[str, Any]) -> Iterator[Told]:
        pieces = records(body.get("tokens"))
        finals = self._told_before.fresh([piece for piece in pieces if _is_word(piece)], _identity)
        fresh_ids = {id(piece) for piece in finals}
        is_over = flag(body.get("finished"))
        open_pieces: list[Piece] = []
        for piece in pieces:
            if text(piece.get("text")) in MARKERS:
                yield from self._turn.settle()
            elif flag(piece.get("is_final")):
                if id(piece) in fresh_ids:
                    self._turn.final.append(piece)
            else:
                open_pieces.append(piece)
        until_ms = number(body.get("final_audio_proc_ms"))
        if is_over or (not open_pieces and self._turn.is_overdue(until_ms / 1000, whole_words=False)):
            yield from self._turn.settle()
        else:
            yield from self._turn.draft(open_pieces)
        if self._turn.final:
            until_ms = min(until_ms, number(self._turn.final[0].get("start_ms"), until_ms))
        yield Heard(until_ms / 1000)
        if is_over:
            yield Finished()

    def _read_pieces(self, pieces: Sequence[Piece]) -> ReadPieces:
        voices = Voices()
        words = words_of(pieces, voices)
        labels = {number: str(label) for number, label in voices.labels.items()}
        return ReadPieces(
            utterances=utterances_of(words, pause_s=float("inf")),
            labels=labels if self._ask.diarize else {},
            lang=language_of(pieces),
        )


def _refused(body: Mapping[str, Any]) -> StreamRefused:
    """Read a refusal. A stream that lasted too long, or that Soniox cannot continue, is opened again."""
    code, reason = int(number(body.get("error_code"))), text(body.get("error_message"))
    kind = KINDS.get(code, _F.TRANSIENT)
    if code == 400 and "duration" in reason.lower():
        kind = _F.TRANSIENT
    return StreamRefused(kind=kind, message=reason, code=str(code))


def _is_word(piece: Piece) -> bool:
    return flag(piece.get("is_final")) and text(piece.get("text")) not in MARKERS


def _identity(piece: Piece) -> Hashable:
    times = piece.get("start_ms"), piece.get("end_ms")
    return None if times == (None, None) else (*map(number, times), text(piece.get("text")))
