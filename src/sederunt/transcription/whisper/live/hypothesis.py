"""Decides which words of successive readings of growing sound will stay. Pure.

A word is stable once two readings in a row agree on it, and the network's attention for it is not in the last moments
of the sound, where the network completes cut-off words by guessing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sederunt.transcription.text import folded
from sederunt.transcription.whisper.decoding import TimedWord


@dataclass(frozen=True, kw_only=True, slots=True)
class Steadiness:
    """When words count as stable."""

    edge_s: float = 0.5  # words that end this close to the end of the sound do not count
    agreements: int = 2  # readings in a row that must agree; 1 accepts words at once
    show_edge: bool = True  # whether drafts also show words of the edge


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The words of an utterance so far. Times are seconds of the utterance."""

    stable: tuple[TimedWord, ...] = ()
    tail: tuple[TimedWord, ...] = ()  # the last reading's words after the stable ones

    def next(self, tail: Sequence[TimedWord], sound_s: float, steadiness: Steadiness) -> "Hypothesis":
        """Return the hypothesis after another reading, of `sound_s` seconds; `tail` follows the stable words."""
        inner = before_edge(tail, sound_s - steadiness.edge_s)
        count = inner if steadiness.agreements < 2 else min(inner, common(self.tail, tail))
        return replace(self, stable=(*self.stable, *tail[:count]), tail=tuple(tail[count:]))

    def shown(self, sound_s: float, steadiness: Steadiness) -> tuple[TimedWord, ...]:
        """Return the words of a draft."""
        count = len(self.tail) if steadiness.show_edge else before_edge(self.tail, sound_s - steadiness.edge_s)
        return (*self.stable, *self.tail[:count])


def common(first: Sequence[TimedWord], second: Sequence[TimedWord]) -> int:
    """Return how many first words two readings share, ignoring case and punctuation."""
    count = 0
    for first_word, second_word in zip(first, second, strict=False):
        if folded(first_word.text) != folded(second_word.text):
            break
        count += 1
    return count


def before_edge(words: Sequence[TimedWord], edge_s: float) -> int:
    """Return how many words end before that moment, up to the first that does not."""
    return next((n for n, word in enumerate(words) if word.end > edge_s), len(words))
