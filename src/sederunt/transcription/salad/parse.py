"""SaladCloud's JSON read: words where it gives them, else sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    number,
    ordered,
    record,
    records,
    share,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result


def parse(output: Any) -> Result:
    """Return a file's transcript. It never says which language it heard."""
    answer = record(output)
    tokens = _tokens(records(answer.get("word_segments")))
    utterances = utterances_of(tokens) if tokens else _sentences(records(answer.get("sentence_level_timestamps")))
    return Result(utterances=ordered(utterances), detected_lang=None)


def is_elsewhere(output: Any) -> str | None:
    """Return the address of a transcript that was too large for the answer; None where the answer holds it."""
    answer = record(output)
    return text(answer.get("url")) or None if "text" not in answer else None


def _tokens(words: list[Mapping[str, Any]]) -> list[Token]:
    voices, found = Voices(), list[Token]()
    for item in words:
        if not (written := text(item.get("word")).strip()):
            continue
        # A word that could not be aligned has no times: it stands where the last one ended.
        start = number(item.get("start"), found[-1].word.end if found else 0.0)
        word = Word(
            word=written.strip('.,!?;:…"') or written,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=share(item.get("score")),
            speaker=voices.number(item.get("speaker")),
        )
        found.append(Token(word=word, written=written, ends_sentence=written.endswith((".", "?", "!"))))
    return found


def _sentences(sentences: list[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    voices = Voices()
    return tuple(
        Utterance(
            start=round(number(sentence.get("start")), 3),
            end=round(max(number(sentence.get("start")), number(sentence.get("end"))), 3),
            speaker=voices.number(sentence.get("speaker")),
            confidence=0.0,
            transcript=text(sentence.get("text")).strip(),
        )
        for sentence in sentences
    )
