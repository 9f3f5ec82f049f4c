"""The open turn of a stream whose final pieces come a few at a time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sederunt.model.transcript import Utterance
from sederunt.transcription.sessions import Draft, Said, Settled, taken_back

PAUSE_S = 2.0  # of sound without words after the turn's last final word: the turn is over
LONGEST_S = 30.0  # a longer turn is settled before its end

Piece = TypeVar("Piece")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadPieces:
    """The content of a turn's pieces."""

    utterances: Sequence[Utterance]
    labels: Mapping[int, str]  # the vendor's label of each voice; empty if voices are not told apart
    lang: str | None = None


class OpenTurn(Generic[Piece]):
    """Keeps the pieces that are final but not settled, and yields changes: drafts, withdrawn drafts, settled segments.

    The sound of pieces that it keeps counts as not heard: it is sent again if the connection is lost.
    """

    def __init__(self, read: Callable[[Sequence[Piece]], ReadPieces]) -> None:
        self._read = read
        self.final: list[Piece] = []
        self._number = 0
        self._drafted: set[str] = set()

    def draft(self, open_pieces: Sequence[Piece] = ()) -> Iterator[Draft]:
        """Yield drafts of the turn so far; `open_pieces` follow its final ones and may still change."""
        parts = self._said([*self.final, *open_pieces])
        keys = {part.key for part in parts}
        yield from (taken_back(key) for key in sorted(self._drafted - keys))
        self._drafted = keys
        yield from (Draft(part) for part in parts)

    def is_overdue(self, heard_until: float, *, whole_words: bool) -> bool:
        """Return whether to settle the turn although the vendor has not ended it, as some never do.

        `whole_words`: its final pieces cannot end inside a word.
        """
        parts = self._said(self.final)
        if not parts:
            return False
        is_long = parts[-1].end - parts[0].start >= LONGEST_S
        return heard_until - parts[-1].end >= PAUSE_S or (is_long and whole_words)

    def settle(self) -> Iterator[Draft | Settled]:
        """Yield the final segments of the turn, and begin the next."""
        parts = self._said(self.final)
        yield from (taken_back(key) for key in sorted(self._drafted - {part.key for part in parts}))
        self.final, self._drafted = [], set()
        self._number += 1
        yield from (Settled(part) for part in parts)

    def _said(self, pieces: Sequence[Piece]) -> list[Said]:
        read = self._read(pieces)
        return [
            Said(
                key=f"{self._number}.{n}",
                start=part.start,
                end=part.end,
                transcript=part.transcript,
                confidence=part.confidence,
                words=part.words,
                label=read.labels.get(part.speaker),
                lang=read.lang,
            )
            for n, part in enumerate(read.utterances)
        ]
