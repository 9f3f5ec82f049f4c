"""AssemblyAI's stream: its messages, both ways. Pure."""

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

UNKNOWN = "UNKNOWN"  # a voice that it could not tell
TERMINATE = json.dumps({"type": "Terminate"})
MOST_TURNS = 500  # whose parts are remembered for a late change of their voice

Turn = Mapping[str, Any]
T = TypeVar("T")


class AssemblyCodec:
    """One stream. A turn's message has its whole text; a formatted one follows the final one and takes its place.

    A final turn waits for its formatted twin, and is settled without where the next turn comes first.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._waiting: Turn | None = None
        self._next = 0  # the number of the turn to come
        self._until = 0.0  # where the last turn ended
        self._settled: dict[int, list[Said]] = {}  # turn → its parts
        self._revisions: dict[int, Turn] = {}  # turn → what was told of its voices later
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
                return [said for each in records(body.get("revisions")) for said in self._revised(each)]
            case "Termination":
                return [*self._without_its_twin(), Finished()]
            case "Error":
                why, code = text(body.get("error")), int(number(body.get("error_code")))
                return (StreamRefused(kind=kind_of(code, why), message=why, code=str(code or "")),)
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
        said = list(self._said(turn))
        keys = {part.key for part in said}
        yield from self._taken_back(keys)
        self._drafted = keys
        yield from (Draft(part) for part in said)

    def _settle(self, turn: Turn) -> Iterator[Told]:
        order = self._order(turn)
        said = [self._by_revision(part, self._revisions.get(order)) for part in self._said(turn)]
        yield from self._taken_back({part.key for part in said})
        self._drafted = set()
        self._next = max(self._next, order + 1)
        _note(self._settled, order, said)
        yield from (Settled(part) for part in said)
        if said:
            self._until = max(part.end for part in said)
            yield Heard(self._until)

    def _revised(self, turn: Turn) -> Iterator[Told]:
        """Settle the parts of a turn anew whose voice turned out to be another's; their words stay as they are."""
        order = self._order(turn)
        _note(self._revisions, order, turn)  # for a turn that still waits for its twin
        before = self._settled.get(order, [])
        after = [self._by_revision(part, turn) for part in before]
        yield from (Settled(part) for part, was in zip(after, before, strict=True) if part != was)
        if before:
            self._settled[order] = after

    def _by_revision(self, part: Said, revision: Turn | None) -> Said:
        label = self._label(_voice_within(revision, part)) if revision is not None else None
        return part if label is None else replace(part, label=label)

    def _taken_back(self, kept: set[str]) -> Iterator[Told]:
        for key in sorted(self._drafted - kept):
            yield taken_back(key)

    def _said(self, turn: Turn) -> Iterator[Said]:
        voices = Voices()
        words = tokens(records(turn.get("words")), voices)
        labels = voices.labels
        whole = text(turn.get("speaker_label")) if not labels else ""
        found = words or spread(text(turn.get("transcript")), self._until, self._until)
        for n, part in enumerate(utterances_of(found, pause_s=float("inf"))):
            yield Said(
                key=f"{self._order(turn)}.{n}",
                start=part.start,
                end=part.end,
                transcript=part.transcript,
                confidence=part.confidence,
                words=part.words,
                label=self._label(labels.get(part.speaker) or whole),
                lang=language(turn.get("language_code")),
            )

    def _label(self, label: str | None) -> str | None:
        return label if self._ask.diarize and label and label != UNKNOWN else None

    def _order(self, turn: Turn) -> int:
        return int(number(turn.get("turn_order")))


def _note(turns: dict[int, T], order: int, what: T) -> None:
    turns[order] = what
    if len(turns) > MOST_TURNS:
        del turns[next(iter(turns))]


def _voice_within(turn: Turn, part: Said) -> str:
    """Return the voice of most of a turn's words that lie in a part; of a turn whose words have none, its own."""
    found = Counter(
        label
        for word in records(turn.get("words"))
        if (label := voice_of(word)) is not None and part.start <= _middle(word) <= part.end
    )
    return next((label for label, _ in found.most_common(1)), text(turn.get("speaker_label")))


def _middle(word: Mapping[str, Any]) -> float:
    return (number(word.get("start")) + number(word.get("end"))) / 2000
