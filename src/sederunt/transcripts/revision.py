"""Changes to published lines after a second reading of loud sound without words. Pure.

Only sound without words is read again, together with the lines around it. A published line keeps its words unless the
second reading has more of them for its time: words that readers found right do not change again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sederunt.model.transcript import LiveLine, Utterance, Word
from sederunt.transcription.text import cut_at_pauses, folded, join, runs

Stretch = tuple[float, float]

# A stretch lies in a line if they share this much; otherwise it is beside the line.
SHARED_S = 0.4
# How much is read around a stretch and its lines, so that their first and last words are whole; and how near a line
# must be to be read along: a network understands little of an isolated sound.
AROUND_S, BESIDE_S = 0.6, 1.5
# Times of two readings differ by this much: a word that begins this close to a line may belong to it.
NEAR_S = 0.25
# A longer pause separates two lines.
PAUSE_S = 1.0
# The place of a word that lies in a stretch but in no line.
_NOBODYS = -1
# How many lines that began before a word are checked: people who share a source talk at once.
_TOGETHER = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """The changes to one source's lines."""

    revised: tuple[tuple[LiveLine, Utterance], ...] = ()  # published lines with their new words
    added: tuple[Utterance, ...] = ()  # words that no line had, by time


def to_read(wordless: Sequence[Stretch], lines: Iterable[LiveLine]) -> list[Stretch]:
    """Return the parts of a source to read again: loud sound without words, adjacent lines, and a margin.

    Args:
        wordless: (start, end) in seconds; by time.
        lines: of the source.
    """
    spans = [_span(line) for line in lines]
    ranges: list[Stretch] = []
    for stretch in wordless:
        group = [stretch, *(span for span in spans if _shared_s(span, stretch) >= -BESIDE_S)]
        ranges.append((max(0.0, min(group)[0] - AROUND_S), max(end for _, end in group) + AROUND_S))
    merged: list[Stretch] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def revision(lines: Sequence[LiveLine], wordless: Sequence[Stretch], read: Iterable[Utterance]) -> Revision:
    """Return what the second reading changes.

    A line that contains a stretch gets the words read for its time, if they are more than it had. Words in a stretch
    but outside all lines are new. All other words are known already.

    Args:
        lines: of one source.
        wordless: as passed to `to_read`.
        read: the second reading, by time.
    """
    lines = sorted(lines, key=_span)
    spans = [_span(line) for line in lines]
    parts_by_line: defaultdict[int, list[Utterance]] = defaultdict(list)
    new_utterances: list[Utterance] = []
    for utterance in read:
        places: list[int | None] = [_place((word.start + word.end) / 2, spans, wordless) for word in utterance.words]
        for place, part in runs(utterance, places):
            if place is not None and place <= _NOBODYS:
                new_utterances += cut_at_pauses(part, PAUSE_S)
            elif place is not None:
                parts_by_line[place].append(part)
    published_words = [word for line in lines for word in words_of(line)]
    return Revision(
        revised=tuple(
            (line, reading)
            for line, span, reading in (
                (lines[place], spans[place], _one(parts)) for place, parts in sorted(parts_by_line.items())
            )
            if any(_shared_s(span, stretch) >= SHARED_S for stretch in wordless)
            and len(reading.words) > len(words_of(line))
        ),
        added=tuple(
            new_utterance
            for utterance in new_utterances
            if (new_utterance := _without_seam(utterance, published_words)) is not None
        ),
    )


def words_of(line: LiveLine) -> list[Word]:
    """Return a line's words, by time."""
    return [word for utterance in line.segment.utterances for word in utterance.words]


def _place(at_s: float, spans: Sequence[Stretch], wordless: Sequence[Stretch]) -> int | None:
    """Return where a word at this moment belongs: a line's index; `_NOBODYS` or below, one number per place between
    lines; or None outside the wordless stretches.
    """
    index_behind = bisect_right(spans, at_s + NEAR_S, key=lambda span: span[0])
    for index in range(index_behind - 1, max(-1, index_behind - 1 - _TOGETHER), -1):
        if at_s <= spans[index][1] + NEAR_S:
            return index
    is_requested = any(start - NEAR_S <= at_s <= end + NEAR_S for start, end in wordless)
    # Separate numbers between lines, so that new words enclose no published line.
    return _NOBODYS - bisect_right(spans, at_s, key=lambda span: span[0]) if is_requested else None


def _one(parts: Sequence[Utterance]) -> Utterance:
    """Join several utterances into the one of a line."""
    words = tuple(word for part in parts for word in part.words)
    return replace(
        parts[0],
        end=max(part.end for part in parts),
        confidence=round(sum(word.confidence for word in words) / len(words), 4),
        transcript=join(part.transcript for part in parts),
        words=words,
    )


def _without_seam(utterance: Utterance, published_words: Iterable[Word]) -> Utterance | None:
    """Return new words without a first or last word that the adjacent line already has: both readings heard it.

    None if no word is left.
    """
    first_word, last_word, drops_first, drops_last = utterance.words[0], utterance.words[-1], False, False
    for word in published_words:
        drops_first |= folded(word.word) == folded(first_word.word) and abs(word.end - first_word.start) <= AROUND_S
        drops_last |= folded(word.word) == folded(last_word.word) and abs(word.start - last_word.end) <= AROUND_S
    count = len(utterance.words)
    remaining = [
        part
        for is_new, part in runs(utterance, [drops_first <= index < count - drops_last for index in range(count)])
        if is_new
    ]
    return remaining[0] if remaining and folded(remaining[0].transcript) else None


def _span(line: LiveLine) -> Stretch:
    words = words_of(line)
    return (words[0].start, words[-1].end) if words else (line.segment.start, line.segment.end)


def _shared_s(one: Stretch, other: Stretch) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])
