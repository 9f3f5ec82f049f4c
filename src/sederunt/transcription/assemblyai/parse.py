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
    place,
    record,
    records,
    share,
    spread,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

_MARKS = '.,!?;:…"“”„»«()[]'


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    answer = record(body)
    place(answer, "words", "utterances", "text")
    return Result(
        utterances=ordered(utterances_of(_said(answer, duration_s))),
        detected_lang=language(answer.get("language_code")),
    )


def _said(answer: Mapping[str, Any], duration_s: float) -> list[Token]:
    """Return the words; where there are none those of the utterances, else of the text."""
    voices = Voices()
    if found := tokens(records(answer.get("words")), voices):
        return found
    for each in records(answer.get("utterances")):
        start, end = number(each.get("start")) / 1000, number(each.get("end")) / 1000
        found += tokens(records(each.get("words")), voices) or spread(
            text(each.get("text")), start, end, speaker=voices.number(voice_of(each), start, end)
        )
    found = found or spread(text(answer.get("text")), 0.0, number(answer.get("audio_duration"), duration_s))
    return sure(found, records(answer.get("words")), "text")


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
            speaker=voices.number(voice_of(item), start, number(item.get("end")) / 1000),
        )
        found.append(Token(word=word, written=written, ends_sentence=written.endswith((".", "?", "!"))))
    return found


def voice_of(item: Mapping[str, Any]) -> str | None:
    """Return the letter of a word's voice; None where AssemblyAI does not know it."""
    label = text(item.get("speaker"))
    return None if label in ("", "UNKNOWN") else label
