"""What a second reading of loud sound without words changes in the published lines. Pure.

Only what lacks words is read again, with the lines that it lies in. A line that was told keeps its words unless the
second reading has more for its time: words that were right in all eyes do not change again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sederunt.model.transcript import LiveLine, Utterance, Word
from sederunt.transcription.text import cut_at_pauses, folded, join, runs

Stretch = tuple[float, float]

# A stretch lies in a line of which it shares so much; below that it is beside the line.
SHARED_S = 0.4
# Read around a stretch and its lines, so that their first and last words are whole; lines so near to it are read along,
# for a network understands little of what it hears by itself.
AROUND_S, BESIDE_S = 0.6, 1.5
# Times of two readings differ by so much: a word that begins so close to a line may be the line's own.
NEAR_S = 0.25
# What pauses for longer are two lines.
PAUSE_S = 1.0
# Whose a word is that lies in a stretch and in no line.
_NOBODYS = -1
# So many lines that began before a word are looked at: people who share a source talk at once.
_TOGETHER = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """What becomes of one source's lines."""

    revised: tuple[tuple[LiveLine, Utterance], ...] = ()  # told before, and what they say now
    added: tuple[Utterance, ...] = ()  # what no line had, by time


def to_read(wordless: Sequence[Stretch], lines: Iterable[LiveLine]) -> list[Stretch]:
    """Return what of a source is read again: loud sound without words, lines that it lies in or beside, and around.

    Args:
        wordless: seconds from, to; by time.
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

    A line in which a stretch lies says what was read in its time, where that is more words than it had. Words in a
    stretch, outside of all lines, are new. Everything else that was read is known already.

    Args:
        lines: of one source.
        wordless: as `to_read` had it.
        read: what was heard there, by time.
    """
    lines = sorted(lines, key=_span)
    spans = [_span(line) for line in lines]
    parts_by_line: defaultdict[int, list[Utterance]] = defaultdict(list)
    added: list[Utterance] = []
    for utterance in read:
        places: list[int | None] = [_place((word.start + word.end) / 2, spans, wordless) for word in utterance.words]
        for place, part in runs(utterance, places):
            if place is not None and place <= _NOBODYS:
                added += cut_at_pauses(part, PAUSE_S)
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
            for utterance in added
            if (new_utterance := _without_seam(utterance, published_words)) is not None
        ),
    )


def words_of(line: LiveLine) -> list[Word]:
    """Return a line's words, by time."""
    return [word for utterance in line.segment.utterances for word in utterance.words]


def _place(at_s: float, spans: Sequence[Stretch], wordless: Sequence[Stretch]) -> int | None:
    """Return whose a word at a moment is: that line's index; `_NOBODYS` or below, one number for each place between
    lines; or None where it was not asked for."""
    index_behind = bisect_right(spans, at_s + NEAR_S, key=lambda span: span[0])
    for index in range(index_behind - 1, max(-1, index_behind - 1 - _TOGETHER), -1):
        if at_s <= spans[index][1] + NEAR_S:
            return index
    is_requested = any(start - NEAR_S <= at_s <= end + NEAR_S for start, end in wordless)
    # Apart by the lines between them: new words enclose no line that was told.
    return _NOBODYS - bisect_right(spans, at_s, key=lambda span: span[0]) if is_requested else None


def _one(parts: Sequence[Utterance]) -> Utterance:
    """Return what a line says now, of several utterances one."""
    words = tuple(word for part in parts for word in part.words)
    return replace(
        parts[0],
        end=max(part.end for part in parts),
        confidence=round(sum(word.confidence for word in words) / len(words), 4),
        transcript=join(part.transcript for part in parts),
        words=words,
    )


def _without_seam(utterance: Utterance, published_words: Iterable[Word]) -> Utterance | None:
    """Return new words without a first or last one that the line beside them has: both readings heard it.

    None where no word is left.
    """
    first, last, drops_first, drops_last = utterance.words[0], utterance.words[-1], False, False
    for word in published_words:
        drops_first |= folded(word.word) == folded(first.word) and abs(word.end - first.start) <= AROUND_S
        drops_last |= folded(word.word) == folded(last.word) and abs(word.start - last.end) <= AROUND_S
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
