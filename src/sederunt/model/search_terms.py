"""Split the searched text and the question into search terms, and find the matches in a text.

Both database engines get these words ready-made, so that the same question finds the same lines in each, in every
script: marks belong to their letters, and scripts that are written without spaces are searched by character.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_PHRASES = 16
_ACCENTS = re.compile("[\u0300-\u036f]")
_PIECE = re.compile(r'"([^"]*)"|(\S+)')
# Han, kana, Thai, Lao, Khmer, Myanmar: no spaces between words.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_AROUND = 12  # words of an excerpt on each side of a match


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a text: its form for comparison, and its position."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must follow one another; the last is a prefix unless it was in quotes."""

    words: tuple[str, ...]
    may_go_on: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an excerpt, and whether it matches."""

    text: str
    is_match: bool


def terms(text: str) -> Iterator[Term]:
    """Yield every word of a text, in order."""
    start: int | None = None
    for place, character in enumerate(text):
        kind = unicodedata.category(character)[0]
        if _UNSPACED.match(character) and kind in "LN":
            if start is not None:
                yield _term(text, start, place)
            start = place
        elif kind in "LN":
            if start is not None and _UNSPACED.match(text[start]):
                yield _term(text, start, place)
                start = place
            start = place if start is None else start
        elif kind != "M" and start is not None:
            yield _term(text, start, place)
            start = None
    if start is not None:
        yield _term(text, start, len(text))


def _term(text: str, start: int, end: int) -> Term:
    folded = unicodedata.normalize("NFKD", text[start:end]).casefold()
    plain = "".join(c for c in _ACCENTS.sub("", folded) if unicodedata.category(c)[0] in "LNM")
    return Term(unicodedata.normalize("NFC", plain) or text[start:end], start, end)


def phrases(question: str) -> tuple[Phrase, ...]:
    """Return the phrases of a search question: each word as a prefix, and each quoted phrase verbatim."""
    result: list[Phrase] = []
    for quoted, bare in _PIECE.findall(question):
        words = tuple(term.word for term in terms(quoted or bare))
        if words:
            result.append(Phrase(words, may_go_on=not quoted))
    return tuple(result[:MOST_PHRASES])


def excerpt(text: str, query: Sequence[Phrase]) -> list[Part]:
    """Return the words around the first match, cut into parts that match and parts that do not."""
    words = list(terms(text))
    hits = _hits(words, query)
    middle = min(hits, default=0)
    places = range(max(middle - _AROUND, 0), min(middle + 2 * _AROUND, len(words)))
    if not words:
        return [Part(text, is_match=False)]
    begin = words[places[0]].start if places[0] else 0
    end = words[places[-1]].end if places[-1] < len(words) - 1 else len(text)
    parts: list[Part] = []
    place = begin
    for number in places:
        if number in hits:
            word = words[number]
            _add(parts, text[place : word.start], is_match=False)
            _add(parts, text[word.start : word.end], is_match=True)
            place = word.end
    _add(parts, text[place:end], is_match=False)
    return [
        *([Part("… ", is_match=False)] if begin else []),
        *parts,
        *([Part(" …", is_match=False)] if end < len(text) else []),
    ]


def _hits(words: Sequence[Term], query: Sequence[Phrase]) -> set[int]:
    hits: set[int] = set()
    for phrase in query:
        length = len(phrase.words)
        for first in range(len(words) - length + 1):
            window = [term.word for term in words[first : first + length]]
            last_fits = window[-1].startswith(phrase.words[-1]) if phrase.may_go_on else window[-1] == phrase.words[-1]
            if last_fits and tuple(window[:-1]) == phrase.words[:-1]:
                hits.update(range(first, first + length))
    return hits


def _add(parts: list[Part], text: str, *, is_match: bool) -> None:
    if text:
        parts.append(Part(text, is_match))
