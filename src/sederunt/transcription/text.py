"""Cut and join utterances without changing their text: spaces and punctuation stay where the model put them."""

import unicodedata
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from sederunt.model.transcript import Utterance, Word

Label = TypeVar("Label", bound=Hashable)

# Scripts that put no space between words or sentences.
_UNSPACED = ("CJK ", "HIRAGANA ", "KATAKANA", "IDEOGRAPHIC ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "FULLWIDTH ")
# Their punctuation and half-width letters, whose names do not show it: 「 and 〜, ｱ and ｡.
_UNSPACED_MARKS = (("\u3000", "\u303f"), ("\uff61", "\uff9f"))


def join(parts: Iterable[str]) -> str:
    """Join texts, with spaces between them if their scripts use any."""
    text = ""
    for part in (part.strip() for part in parts):
        text += _between(text, part) + part
    return text


def words_as_written(utterances: Iterable[Utterance]) -> list[Word]:
    """Return the words of utterances, each with the text up to the next word, so that `"".join` restores the text.

    Words that are not in the text stay unchanged, with spaces between them if their script uses any.
    """
    words: list[Word] = []
    for utterance in utterances:
        if not utterance.words:
            continue
        texts = _word_texts(utterance.transcript.strip(), utterance.words)
        if words:
            words[-1] = replace(words[-1], word=words[-1].word + _between(words[-1].word, texts[0]))
        words += [replace(word, word=word_text) for word, word_text in zip(utterance.words, texts, strict=True)]
    return words


def folded(text: str) -> str:
    """Return a word for comparison: only its letters and digits, in lower case."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def runs(utterance: Utterance, labels: Sequence[Label]) -> list[tuple[Label | None, Utterance]]:
    """Cut an utterance where the label of its words changes; without words it stays whole, with label None."""
    if not utterance.words:
        return [(None, utterance)]
    cuts = [n for n in range(1, len(labels)) if labels[n] != labels[n - 1]]
    parts = _cut(utterance, cuts)
    return [(labels[first], part) for first, part in zip([0, *cuts], parts, strict=True)]


def cut_at_pauses(utterance: Utterance, pause_s: float) -> list[Utterance]:
    """Cut an utterance at pauses longer than `pause_s`."""
    words = utterance.words
    return _cut(utterance, [n for n in range(1, len(words)) if words[n].start - words[n - 1].end > pause_s])


def clamped(utterance: Utterance, duration_s: float) -> Utterance:
    """Return an utterance with all times in order and within the recording, and its own times those of its words."""
    words = in_order(utterance.words, duration_s)
    start = min(duration_s, max(0.0, utterance.start))
    end = min(duration_s, max(start, utterance.end))
    if words:
        start, end = words[0].start, max(word.end for word in words)
    return replace(utterance, start=start, end=end, words=tuple(words))


def in_order(words: Sequence[Word], until: float = float("inf")) -> list[Word]:
    """Return words whose starts rise and lie between 0 and `until`. As few words as possible are moved, each to a place
    between its neighbours.
    """
    ordered_places = _longest_rise([word.start if 0 <= word.start <= until else None for word in words])
    next_start = until  # the start of the next word in order
    limits: list[float] = []
    for place in range(len(words) - 1, -1, -1):
        next_start = words[place].start if place in ordered_places else next_start
        limits.append(next_start)
    result: list[Word] = []
    previous_start = 0.0
    for place, (word, limit) in enumerate(zip(words, reversed(limits), strict=True)):
        if place in ordered_places:
            start, end = word.start, max(word.start, word.end)
        else:
            previous_end = result[-1].end if result else 0.0
            start = max(previous_start, min(word.start if word.start >= previous_start else previous_end, limit))
            start = start if start < float("inf") else previous_end
            end = max(start, min(word.end, limit)) if word.end < float("inf") else start
        result.append(replace(word, start=start, end=min(until, end)))
        previous_start = start
    return result


def _longest_rise(starts: Sequence[float | None]) -> set[int]:
    """Return the indices of the longest rising sequence of starts; None stands for a start that cannot be right."""
    tails: list[float] = []  # the smallest last start of a rise of each length
    places: list[int] = []
    previous: dict[int, int | None] = {}
    for place, start in enumerate(starts):
        if start is None:
            continue
        length = bisect_right(tails, start)
        previous[place] = places[length - 1] if length else None
        tails[length : length + 1] = [start]
        places[length : length + 1] = [place]
    rise: set[int] = set()
    cursor = places[-1] if places else None
    while cursor is not None:
        rise.add(cursor)
        cursor = previous[cursor]
    return rise


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
    """Return the text from each word to the next; the words themselves if any is not in the transcript."""
    starts, cursor = [], 0
    for word in words:
        index = transcript.find(word.word, cursor)
        if index < 0:
            plain_words = [word.word.strip() for word in words]
            return [
                current + _between(current, following)
                for current, following in zip(plain_words, [*plain_words[1:], ""], strict=True)
            ]
        starts.append(index)
        cursor = index + len(word.word)
    starts[0] = 0
    return [transcript[start:end] for start, end in zip(starts, [*starts[1:], len(transcript)], strict=True)]


def _between(before: str, after: str) -> str:
    """Return the separator of two texts: a space, unless one is empty or neither script uses any."""
    return " " if before and after and not (_is_unspaced(before[-1]) and _is_unspaced(after[0])) else ""


def _is_unspaced(letter: str) -> bool:
    marks = any(first <= letter <= last for first, last in _UNSPACED_MARKS)
    return marks or unicodedata.name(letter, "").startswith(_UNSPACED)
