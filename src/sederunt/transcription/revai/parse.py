"""Rev.ai's JSON read: monologues of words and the marks between them. Pure."""

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
    """Return a file's transcript; its language is what another job found. Raises Unreadable where there is no place
    for words.
    """
    place(record(body), "monologues")
    monologues = records(record(body).get("monologues"))
    spaced = any(_parts(element) for monologue in monologues for element in records(monologue.get("elements")))
    voices = Voices()
    utterances: list[Utterance] = []
    for monologue in monologues:
        voice = voices.number(monologue.get("speaker"))
        elements = records(monologue.get("elements"))
        utterances += utterances_of(sure(_tokens(elements, voice, spaced=spaced), elements, "value"))
    return Result(utterances=ordered(utterances), detected_lang=lang)


def top_language(body: Any) -> str | None:
    """Return the language that a language job is surest of; None where it says nothing usable."""
    return language_tag(record(body).get("top_language"))


def _tokens(elements: Sequence[Mapping[str, Any]], voice: int, *, spaced: bool) -> list[Token]:
    """Return the words with the marks that follow them; a mark with a space in it parts two words.

    `spaced` says that the answer has such marks: in one without any, words follow each other all the same.
    """
    found: list[Token] = []
    parted = True
    for element in elements:
        value = text(element.get("value"))
        kind = _kind(element)
        if kind == "text" and value.strip():
            found.append(_token(element, value.strip(), voice, glued=spaced and bool(found) and not parted))
            parted = False
        elif kind == "punct" and found:
            parted = parted or _parts(element)
            if mark := value.strip():
                found[-1] = replace(
                    found[-1],
                    written=found[-1].written + mark,
                    ends_sentence=found[-1].ends_sentence or mark[-1] in ".?!",
                )
    return found


def _kind(element: Mapping[str, Any]) -> str:
    return status_word(element.get("type")) or ("text" if "ts" in element else "punct")


def _parts(element: Mapping[str, Any]) -> bool:
    """Return whether a mark stands for a space, or holds one."""
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
