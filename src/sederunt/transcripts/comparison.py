"""Compare two transcripts of the same sound: rows by time, differences, error rates against a reference. Pure.

Words are compared as in search (`model.search_terms`): without case, accents and punctuation; scripts without spaces
by character. Rows end where both transcripts pause, so each is aligned by itself and the cost grows linearly with the
length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from sederunt.model.search_terms import terms
from sederunt.model.transcript import Segment, Transcript

if TYPE_CHECKING:
    import numpy as np

# (seconds, pause): after so many seconds a row ends at the first pause of this length.
_ROW_ENDS: Sequence[tuple[float, float]] = ((8.0, 0.4), (25.0, 0.1))
_LONGEST_ROW_S = 60.0
_BAND = 256  # edits allowed at first; doubled until they suffice
MOST_CELLS = 1_500_000_000  # takes some seconds of a core


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word, in its compared and its displayed form."""

    key: str
    text: str
    start: float
    end: float
    speaker: str | None
    glued: bool  # no space before it


@dataclass(frozen=True, slots=True)
class ComparedPassage:
    """A run of one speaker's words, and whether the other transcript has them too."""

    text: str
    same: bool
    speaker: str | None


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """The same stretch of time in both transcripts."""

    start: float
    end: float
    first: tuple[ComparedPassage, ...]
    second: tuple[ComparedPassage, ...]


class TooLong(Exception):
    """The texts are too long to compare word by word in reasonable time."""


def words_of(transcript: Transcript) -> list[SpokenWord]:
    """Return a transcript's words by time; the words of a segment without timed words are spread evenly."""
    words = [word for segment in transcript.segments for word in _words_of(segment)]
    return sorted(words, key=lambda word: word.start)


def side_by_side(first: Sequence[SpokenWord], second: Sequence[SpokenWord]) -> list[ComparedRow]:
    """Return both transcripts as rows of the same stretches of time."""
    return [_row(start, ours, theirs) for start, ours, theirs in _stretches(first, second)]


def error_rate(reference: Sequence[str], hypothesis: Sequence[str]) -> float | None:
    """Return the word error rate: edits per word of the reference; None for an empty one. Raises TooLong."""
    return edits(reference, hypothesis) / len(reference) if reference else None


def keys_of(text: str) -> list[str]:
    """Return the words of a plain text in their compared form."""
    return [term.word for term in terms(text)]


def edits(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the least number of words to insert, delete or replace. Raises TooLong."""
    import numpy as np  # so that the API loads it only with the first comparison

    numbers: dict[str, int] = {}
    a, b = (np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64) for keys in (one, other))
    if len(a) > len(b):
        a, b = b, a
    band = _BAND + len(b) - len(a)
    while True:
        if (2 * band + 1) * len(a) > MOST_CELLS:
            raise TooLong
        distance = _edits_within(a, b, band)
        if distance <= band or band >= len(b):
            return distance
        band *= 2


def _edits_within(a: "np.ndarray[tuple[int], np.dtype[np.int64]]", b: "np.ndarray[tuple[int], np.dtype[np.int64]]",
                  band: int) -> int:  # fmt: skip
    """Return the edits, counted over positions at most `band` apart: exact if the result is at most `band`."""
    import numpy as np

    width = min(band, len(b))
    previous_low, previous = 0, np.arange(width + 1)
    for row in range(1, len(a) + 1):
        low, high = max(0, row - band), min(len(b), row + band)
        places = np.arange(low, high + 1)
        unreachable = len(a) + len(b)
        # The row above, at each place and one to the left; places outside the band are unreachable.
        offsets = places - previous_low
        above = np.where(offsets < len(previous), previous[np.minimum(offsets, len(previous) - 1)], unreachable) + 1
        diagonal = np.where(offsets > 0, previous[np.maximum(offsets - 1, 0)], unreachable)
        replacement = diagonal + (b[np.maximum(places - 1, 0)] != a[row - 1])
        best = np.minimum(above, np.where(places > 0, replacement, unreachable))
        previous = np.minimum.accumulate(best - places) + places
        previous_low = low
    return int(previous[len(b) - previous_low])


def _words_of(segment: Segment) -> Iterator[SpokenWord]:
    timed_words = [word for utterance in segment.utterances for word in utterance.words]
    if timed_words:
        for word in timed_words:
            yield from _cut(word.word.strip(), word.start, word.end, segment.speaker_name)
        return
    plain_words = segment.transcript.split()
    step = (segment.end - segment.start) / max(len(plain_words), 1)
    for number, text in enumerate(plain_words):
        start = segment.start + number * step
        yield from _cut(text, start, start + step, segment.speaker_name)


def _cut(text: str, start: float, end: float, speaker: str | None) -> Iterator[SpokenWord]:
    """Yield the words to compare in one written word: "forty-two" has two."""
    found_terms = list(terms(text))
    begins = [0, *(term.start for term in found_terms[1:]), len(text)]
    for number, term in enumerate(found_terms):
        shown_text = text[begins[number] : begins[number + 1]]
        yield SpokenWord(term.word, shown_text, start, end, speaker, glued=number > 0)


def _stretches(
    first: Sequence[SpokenWord], second: Sequence[SpokenWord]
) -> Iterator[tuple[float, list[SpokenWord], list[SpokenWord]]]:
    ours: list[SpokenWord] = []
    theirs: list[SpokenWord] = []
    row_start = speech_end = 0.0
    tagged_words = [*((True, word) for word in first), *((False, word) for word in second)]
    for is_first, word in sorted(tagged_words, key=lambda entry: entry[1].start):
        if (ours or theirs) and _ends_row(word.start - row_start, word.start - speech_end):
            yield row_start, ours, theirs
            ours, theirs = [], []
        if not (ours or theirs):
            row_start = word.start
        (ours if is_first else theirs).append(word)
        speech_end = max(speech_end, word.end)
    if ours or theirs:
        yield row_start, ours, theirs


def _ends_row(length_s: float, pause_s: float) -> bool:
    return length_s >= _LONGEST_ROW_S or any(length_s >= long and pause_s >= pause for long, pause in _ROW_ENDS)


def _row(start: float, ours: Sequence[SpokenWord], theirs: Sequence[SpokenWord]) -> ComparedRow:
    matcher = SequenceMatcher(None, [word.key for word in ours], [word.key for word in theirs], autojunk=False)
    same_first, same_second = [False] * len(ours), [False] * len(theirs)
    for block in matcher.get_matching_blocks():
        same_first[block.a : block.a + block.size] = [True] * block.size
        same_second[block.b : block.b + block.size] = [True] * block.size
    end = max(word.end for word in (*ours, *theirs))
    return ComparedRow(start, end, tuple(_passages(ours, same_first)), tuple(_passages(theirs, same_second)))


def _passages(words: Sequence[SpokenWord], same: Sequence[bool]) -> Iterator[ComparedPassage]:
    text, previous = "", None
    for word, is_same in zip(words, same, strict=True):
        if previous is not None and previous == (is_same, word.speaker):
            text += word.text if word.glued else f" {word.text}"
            continue
        if previous is not None:
            yield ComparedPassage(text, *previous)
        text, previous = word.text, (is_same, word.speaker)
    if previous is not None:
        yield ComparedPassage(text, *previous)
