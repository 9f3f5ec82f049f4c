"""AssemblyAI's JSON read: words in milliseconds, voices as letters. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sederunt.model.transcript import Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    language,
    number,
    ordered,
    record,
    records,
    share,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

_MARKS = '.,!?;:…"“”„»«()[]'


def parse(body: Any) -> Result:
    """Return a file's transcript. Everything may be missing: silence has no words."""
    answer = record(body)
    utterances = utterances_of(tokens(records(answer.get("words")), Voices()))
    return Result(utterances=ordered(utterances), detected_lang=language(answer.get("language_code")))


def tokens(words: Iterable[Mapping[str, Any]], voices: Voices) -> list[Token]:
    """Return the words of a file or of a turn, times in seconds, voices by first appearance."""
    found = []
    for item in words:
        written = text(item.get("text")).strip()
        if not written:
            continue
        start = number(item.get("start")) / 1000
        word = Word(
            word=written.strip(_MARKS) or written,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start * 1000) / 1000), 3),
            confidence=share(item.get("confidence")),
            speaker=voices.number(voice_of(item)),
        )
        found.append(Token(word=word, written=written, ends_sentence=written.endswith((".", "?", "!"))))
    return found


def voice_of(item: Mapping[str, Any]) -> str | None:
    """Return the letter of a word's voice; None where AssemblyAI does not know it."""
    label = text(item.get("speaker"))
    return None if label in ("", "UNKNOWN") else label
