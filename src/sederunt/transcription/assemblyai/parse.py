"""Parse AssemblyAI's JSON: word times in milliseconds, voices as letters. Pure."""

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
    """Return a file's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    answer = record(body)
    place(answer, "words", "utterances", "text")
    return Result(
        utterances=ordered(utterances_of(_said(answer, duration_s))),
        detected_lang=language(answer.get("language_code")),
    )


def _said(answer: Mapping[str, Any], duration_s: float) -> list[Token]:
    """Return the words; without any, those of the utterances, or else of the text."""
    voices = Voices()
    if words := tokens(records(answer.get("words")), voices):
        return words
    for utterance in records(answer.get("utterances")):
        start, end = number(utterance.get("start")) / 1000, number(utterance.get("end")) / 1000
        words += tokens(records(utterance.get("words")), voices) or spread(
            text(utterance.get("text")), start, end, speaker=voices.number(voice_of(utterance), start, end)
        )
    words = words or spread(text(answer.get("text")), 0.0, number(answer.get("audio_duration"), duration_s))
    return sure(words, records(answer.get("words")), "text")


def tokens(words: Iterable[Mapping[str, Any]], voices: Voices) -> list[Token]:
    """Return the words of a file or turn, with times in seconds and voices numbered by first appearance."""
    word_tokens = []
    for item in words:
        word_text = text(item.get("text")).strip()
        if not word_text:
            continue
        start = number(item.get("start")) / 1000
        word = Word(
            word=word_text.strip(_MARKS) or word_text,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start * 1000) / 1000), 3),
            confidence=share(item.get("confidence")),
            speaker=voices.number(voice_of(item), start, number(item.get("end")) / 1000),
        )
        word_tokens.append(Token(word=word, written=word_text, ends_sentence=word_text.endswith((".", "?", "!"))))
    return word_tokens


def voice_of(item: Mapping[str, Any]) -> str | None:
    """Return the letter of a word's voice; None if AssemblyAI does not know it."""
    label = text(item.get("speaker"))
    return None if label in ("", "UNKNOWN") else label
