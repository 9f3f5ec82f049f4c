"""Encode and decode the messages of AssemblyAI's streams. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sederunt import foreign_json
from sederunt.transcription.assemblyai.faults import kind_of
from sederunt.transcription.assemblyai.parse import tokens, voice_of
from sederunt.transcription.cloud.reading import (
    Voices,
    flag,
    language,
    number,
    record,
    records,
    spread,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.vendor import Ask, Finished, Message, Ready, StreamRefused, Told
from sederunt.transcription.sessions import Draft, Heard, Onset, Said, Settled, taken_back

UNKNOWN = "UNKNOWN"  # the label of an unrecognised voice
TERMINATE = json.dumps({"type": "Terminate"})
MOST_TURNS = 500  # whose parts are kept, in case their voice is corrected later

Turn = Mapping[str, Any]
T = TypeVar("T")


class AssemblyCodec:
    """One stream. Each message has the whole text of its turn; a formatted version follows and replaces the final one.

    A final turn waits for its formatted version; if the next turn comes first, it is settled unformatted.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._waiting: Turn | None = None
        self._next = 0  # the number of the next turn
        self._until = 0.0  # the end of the last turn
        self._settled: dict[int, list[Said]] = {}  # turn → its parts
        self._revisions: dict[int, Turn] = {}  # turn → a later correction of its voices
        self._drafted: set[str] = set()

    def opening(self) -> Sequence[Message]:
        return ()

    def audio(self, pcm: bytes) -> Message:
        return pcm

    def closing(self) -> Sequence[Message]:
        return (TERMINATE,)

    def read(self, message: Message) -> Iterable[Told]:
        try:
            body = record(foreign_json.read(message))
        except ValueError:
            return ()
        match body.get("type"):
            case "Begin":
                return (Ready(),)
            case "Turn":
                return list(self._turn(body))
            case "SpeechStarted":
                return (Onset(f"{self._next}.0", number(body.get("timestamp")) / 1000),)
            case "SpeakerRevision":
                return [event for revision in records(body.get("revisions")) for event in self._revised(revision)]
            case "Termination":
                return [*self._without_its_twin(), Finished()]
            case "Error":
                reason, code = text(body.get("error")), int(number(body.get("error_code")))
                return (StreamRefused(kind=kind_of(code, reason), message=reason, code=str(code or "")),)
        return ()

    def _turn(self, turn: Turn) -> Iterator[Told]:
        order = int(number(turn.get("turn_order")))
        if self._waiting is not None and order != self._order(self._waiting):
            yield from self._without_its_twin()
        if not flag(turn.get("end_of_turn")):
            yield from self._draft(turn)
        elif flag(turn.get("turn_is_formatted")):
            self._waiting = None
            yield from self._settle(turn)
        else:
            self._waiting = turn
            yield from self._draft(turn)

    def _without_its_twin(self) -> Iterator[Told]:
        turn, self._waiting = self._waiting, None
        if turn is not None:
            yield from self._settle(turn)

    def _draft(self, turn: Turn) -> Iterator[Told]:
        parts = list(self._said(turn))
        keys = {part.key for part in parts}
        yield from self._taken_back(keys)
        self._drafted = keys
        yield from (Draft(part) for part in parts)

    def _settle(self, turn: Turn) -> Iterator[Told]:
        order = self._order(turn)
        parts = [self._by_revision(part, self._revisions.get(order)) for part in self._said(turn)]
        yield from self._taken_back({part.key for part in parts})
        self._drafted = set()
        self._next = max(self._next, order + 1)
        _note(self._settled, order, parts)
        yield from (Settled(part) for part in parts)
        if parts:
            self._until = max(part.end for part in parts)
            yield Heard(self._until)

    def _revised(self, turn: Turn) -> Iterator[Told]:
        """Settle again the parts of a turn whose voice was corrected; their words stay unchanged."""
        order = self._order(turn)
        _note(self._revisions, order, turn)  # for a turn that still waits for its formatted version
        old_parts = self._settled.get(order, [])
        new_parts = [self._by_revision(part, turn) for part in old_parts]
        yield from (Settled(part) for part, old_part in zip(new_parts, old_parts, strict=True) if part != old_part)
        if old_parts:
            self._settled[order] = new_parts

    def _by_revision(self, part: Said, revision: Turn | None) -> Said:
        label = self._label(_voice_within(revision, part)) if revision is not None else None
        return part if label is None else replace(part, label=label)

    def _taken_back(self, current_keys: set[str]) -> Iterator[Told]:
        for key in sorted(self._drafted - current_keys):
            yield taken_back(key)

    def _said(self, turn: Turn) -> Iterator[Said]:
        voices = Voices()
        timed_words = tokens(records(turn.get("words")), voices)
        labels = voices.labels
        turn_label = text(turn.get("speaker_label")) if not labels else ""
        word_tokens = timed_words or spread(text(turn.get("transcript")), self._until, self._until)
        for n, part in enumerate(utterances_of(word_tokens, pause_s=float("inf"))):
            yield Said(
                key=f"{self._order(turn)}.{n}",
                start=part.start,
                end=part.end,
                transcript=part.transcript,
                confidence=part.confidence,
                words=part.words,
                label=self._label(labels.get(part.speaker) or turn_label),
                lang=language(turn.get("language_code")),
            )

    def _label(self, label: str | None) -> str | None:
        return label if self._ask.diarize and label and label != UNKNOWN else None

    def _order(self, turn: Turn) -> int:
        return int(number(turn.get("turn_order")))


def _note(turns: dict[int, T], order: int, value: T) -> None:
    turns[order] = value
    if len(turns) > MOST_TURNS:
        del turns[next(iter(turns))]


def _voice_within(turn: Turn, part: Said) -> str:
    """Return the voice of most of a turn's words within a part; if its words have none, the turn's own."""
    label_counts = Counter(
        label
        for word in records(turn.get("words"))
        if (label := voice_of(word)) is not None and part.start <= _middle(word) <= part.end
    )
    return next((label for label, _ in label_counts.most_common(1)), text(turn.get("speaker_label")))


def _middle(word: Mapping[str, Any]) -> float:
    return (number(word.get("start")) + number(word.get("end"))) / 2000
