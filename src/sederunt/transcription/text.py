"""Utterances cut and joined without harm to their text: spaces and punctuation stay where the model put them."""

import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from sederunt.model.transcript import Utterance, Word

Label = TypeVar("Label", bound=Hashable)

# Scripts that put no space between words or sentences.
_UNSPACED = ("CJK ", "HIRAGANA ", "KATAKANA", "IDEOGRAPHIC ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "FULLWIDTH ")
# Their punctuation and half-wide letters, whose names do not tell: 「 and 〜, ｱ and ｡.
_UNSPACED_MARKS = (("\u3000", "\u303f"), ("\uff61", "\uff9f"))


def join(parts: Iterable[str]) -> str:
    """Join texts one after the other, with a space between them where their scripts use any."""
    joined = ""
    for part in (part.strip() for part in parts):
        joined += _between(joined, part) + part
    return joined


def words_as_written(utterances: Iterable[Utterance]) -> list[Word]:
    """Return the words of utterances, each with what stands in the text from it to the next: `"".join` gives it back.

    Words that are not in the text stay as they are told, with spaces where their script uses any.
    """
    found: list[Word] = []
    for utterance in utterances:
        if not utterance.words:
            continue
        texts = _word_texts(utterance.transcript.strip(), utterance.words)
        if found:
            found[-1] = replace(found[-1], word=found[-1].word + _between(found[-1].word, texts[0]))
        found += [replace(word, word=written) for word, written in zip(utterance.words, texts, strict=True)]
    return found


def folded(text: str) -> str:
    """Return a word as it is compared: its letters and digits alone, in lower case."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def runs(utterance: Utterance, labels: Sequence[Label]) -> list[tuple[Label | None, Utterance]]:
    """Cut an utterance where the label of its words changes; without words it stays whole, its label None."""
    if not utterance.words:
        return [(None, utterance)]
    cuts = [n for n in range(1, len(labels)) if labels[n] != labels[n - 1]]
    parts = _cut(utterance, cuts)
    return [(labels[first], part) for first, part in zip([0, *cuts], parts, strict=True)]


def cut_at_pauses(utterance: Utterance, pause_s: float) -> list[Utterance]:
    """Cut an utterance where its words are further apart than that."""
    words = utterance.words
    return _cut(utterance, [n for n in range(1, len(words)) if words[n].start - words[n - 1].end > pause_s])


def clamped(utterance: Utterance, duration_s: float) -> Utterance:
    """Return an utterance with every time within the recording, in order, and its own times around its words."""
    words = in_order(utterance.words, duration_s)
    start = min(duration_s, max(0.0, utterance.start))
    end = min(duration_s, max(start, utterance.end))
    if words:
        start, end = words[0].start, max(word.end for word in words)
    return replace(utterance, start=start, end=end, words=tuple(words))


def in_order(words: Sequence[Word], until: float = float("inf")) -> list[Word]:
    """Return words whose starts rise and lie between 0 and `until`. Those that break the order of most are put between
    their neighbours, and no other word is moved.
    """
    kept = _longest_rise([word.start if 0 <= word.start <= until else None for word in words])
    following = until  # the start of the next word in order
    limits: list[float] = []
    for place in range(len(words) - 1, -1, -1):
        following = words[place].start if place in kept else following
        limits.append(following)
    mended: list[Word] = []
    before = 0.0
    for place, (word, limit) in enumerate(zip(words, reversed(limits), strict=True)):
        if place in kept:
            start, end = word.start, max(word.start, word.end)
        else:
            last = mended[-1].end if mended else 0.0
            start = max(before, min(word.start if word.start >= before else last, limit))
            start = start if start < float("inf") else last
            end = max(start, min(word.end, limit)) if word.end < float("inf") else start
        mended.append(replace(word, start=start, end=min(until, end)))
        before = start
    return mended


def _longest_rise(starts: Sequence[float | None]) -> set[int]:
    """Return the places of as many starts as possible that rise; None stands for one that cannot be right."""
    tails: list[float] = []  # the least start that ends a rise of each length
    places: list[int] = []
    previous: dict[int, int | None] = {}
    for place, start in enumerate(starts):
        if start is None:
            continue
        length = bisect_right(tails, start)
        previous[place] = places[length - 1] if length else None
        tails[length : length + 1] = [start]
        places[length : length + 1] = [place]
    found: set[int] = set()
    at = places[-1] if places else None
    while at is not None:
        found.add(at)
        at = previous[at]
    return found


def _cut(utterance: Utterance, cuts: Sequence[int]) -> list[Utterance]:
    if not cuts:
        return [utterance]
    texts = _word_texts(utterance.transcript, utterance.words)
    parts = []
    for first, last in zip([0, *cuts], [*cuts, len(utterance.words)], strict=True):
        words = utterance.words[first:last]
        parts.append(
            replace(
                utterance,
                start=words[0].start,
                end=max(word.end for word in words),
                confidence=round(sum(word.confidence for word in words) / len(words), 4),
                transcript="".join(texts[first:last]).strip(),
                words=words,
            )
        )
    return parts


def _word_texts(transcript: str, words: Sequence[Word]) -> list[str]:
    """Return the stretch of the transcript from each word to the next; the words where they are not in it."""
    starts, cursor = [], 0
    for word in words:
        found = transcript.find(word.word, cursor)
        if found < 0:
            told = [word.word.strip() for word in words]
            return [one + _between(one, other) for one, other in zip(told, [*told[1:], ""], strict=True)]
        starts.append(found)
        cursor = found + len(word.word)
    starts[0] = 0
    return [transcript[start:end] for start, end in zip(starts, [*starts[1:], len(transcript)], strict=True)]


def _between(before: str, after: str) -> str:
    """Return what stands between two texts: a space, unless one is empty or neither script uses any."""
    return " " if before and after and not (_is_unspaced(before[-1]) and _is_unspaced(after[0])) else ""


def _is_unspaced(letter: str) -> bool:
    marks = any(first <= letter <= last for first, last in _UNSPACED_MARKS)
    return marks or unicodedata.name(letter, "").startswith(_UNSPACED)
