"""The turn that is open in a stream whose final pieces come a few at a time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sederunt.model.transcript import Utterance
from sederunt.transcription.sessions import Draft, Said, Settled, taken_back

PAUSE_S = 2.0  # of sound without a word behind the turn's last final one: nobody goes on with it
LONGEST_S = 30.0  # a listener waits no longer for a turn's end

Piece = TypeVar("Piece")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadPieces:
    """What pieces of a turn come to."""

    utterances: Sequence[Utterance]
    labels: Mapping[int, str]  # the vendor's word for each voice; empty where voices are not asked for
    lang: str | None = None


class OpenTurn(Generic[Piece]):
    """Keeps the pieces that are final and not settled yet, and says what changes: drafts, drafts taken back, finals.

    What it keeps counts as not heard: its sound is sent again, should the line be lost.
    """

    def __init__(self, read: Callable[[Sequence[Piece]], ReadPieces]) -> None:
        self._read = read
        self.final: list[Piece] = []
        self._number = 0
        self._drafted: set[str] = set()

    def draft(self, open_pieces: Sequence[Piece] = ()) -> Iterator[Draft]:
        """Tell what the turn says so far; `open_pieces` follow its final ones and may still change."""
        said = self._said([*self.final, *open_pieces])
        keys = {part.key for part in said}
        yield from (taken_back(key) for key in sorted(self._drafted - keys))
        self._drafted = keys
        yield from (Draft(part) for part in said)

    def is_overdue(self, heard_until: float, *, whole_words: bool) -> bool:
        """Return whether the turn is to be settled although the vendor has not ended it, as some never do.

        `whole_words` says that its final pieces cannot end inside a word.
        """
        said = self._said(self.final)
        if not said:
            return False
        is_long = said[-1].end - said[0].start >= LONGEST_S
        return heard_until - said[-1].end >= PAUSE_S or (is_long and whole_words)

    def settle(self) -> Iterator[Draft | Settled]:
        """Tell what the turn said for good, and begin the next."""
        said = self._said(self.final)
        yield from (taken_back(key) for key in sorted(self._drafted - {part.key for part in said}))
        self.final, self._drafted = [], set()
        self._number += 1
        yield from (Settled(part) for part in said)

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
