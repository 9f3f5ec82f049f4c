"""Parse Rev.ai's JSON: monologues of words and the marks between them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    number,
    ordered,
    place,
    record,
    records,
    share,
    status_word,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.reading import language as language_tag
from sederunt.transcription.provider import Result


def parse(body: Any, *, lang: str | None = None) -> Result:
    """Return a file's transcript; `lang` is its language. Raises Unreadable if the answer has no field for words."""
    place(record(body), "monologues")
    monologues = records(record(body).get("monologues"))
    has_space_marks = any(_parts(element) for monologue in monologues for element in records(monologue.get("elements")))
    voices = Voices()
    utterances: list[Utterance] = []
    for monologue in monologues:
        voice = voices.number(monologue.get("speaker"))
        elements = records(monologue.get("elements"))
        utterances += utterances_of(sure(_tokens(elements, voice, has_space_marks=has_space_marks), elements, "value"))
    return Result(utterances=ordered(utterances), detected_lang=lang)


def top_language(body: Any) -> str | None:
    """Return the most likely language by a language job; None if it has no usable answer."""
    return language_tag(record(body).get("top_language"))


def _tokens(elements: Sequence[Mapping[str, Any]], voice: int, *, has_space_marks: bool) -> list[Token]:
    """Return the words with the marks that follow them; a mark with a space separates two words.

    `has_space_marks`: the answer has such marks. Without any, all words are separate.
    """
    tokens: list[Token] = []
    is_parted = True
    for element in elements:
        value = text(element.get("value"))
        kind = _kind(element)
        if kind == "text" and value.strip():
            tokens.append(
                _token(element, value.strip(), voice, glued=has_space_marks and bool(tokens) and not is_parted)
            )
            is_parted = False
        elif kind == "punct" and tokens:
            is_parted = is_parted or _parts(element)
            if mark := value.strip():
                tokens[-1] = replace(
                    tokens[-1],
                    written=tokens[-1].written + mark,
                    ends_sentence=tokens[-1].ends_sentence or mark[-1] in ".?!",
                )
    return tokens


def _kind(element: Mapping[str, Any]) -> str:
    return status_word(element.get("type")) or ("text" if "ts" in element else "punct")


def _parts(element: Mapping[str, Any]) -> bool:
    """Return whether a mark is, or contains, a space."""
    value = text(element.get("value"))
    return _kind(element) == "punct" and (value != value.strip() or not value)


def _token(element: Mapping[str, Any], value: str, voice: int, *, glued: bool) -> Token:
    start = number(element.get("ts"))
    word = Word(
        word=value,
        start=round(start, 3),
        end=round(max(start, number(element.get("end_ts"), start)), 3),
        confidence=share(element.get("confidence")),
        speaker=voice,
    )
    return Token(word=word, written=value, glued=glued)
