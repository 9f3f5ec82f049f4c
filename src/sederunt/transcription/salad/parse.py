"""Parse SaladCloud's JSON: words if it has any, else sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    spread,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

_PLACES = ("word_segments", "sentence_level_timestamps", "text")


def parse(output: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript: from words, else sentences, else text. The answer never names the language.

    Raises Unreadable if the answer has no field for words.
    """
    answer = record(output)
    place(answer, *_PLACES)
    tokens = _tokens(records(answer.get("word_segments")))
    utterances = ordered(
        utterances_of(tokens) if tokens else _sentences(records(answer.get("sentence_level_timestamps")))
    )
    if not utterances:
        utterances = utterances_of(spread(text(answer.get("text")), 0.0, duration_s))
    sure(utterances, records(answer.get("word_segments")), "word")
    return Result(utterances=utterances, detected_lang=None)


def is_elsewhere(output: Any) -> str | None:
    """Return the URL of a transcript that was too large for the answer; None if the answer contains it."""
    answer = record(output)
    return None if any(answer.get(name) is not None for name in _PLACES) else text(answer.get("url")) or None


def _tokens(words: Sequence[Mapping[str, Any]]) -> list[Token]:
    voices, tokens = Voices(), list[Token]()
    for item in words:
        if not (word_text := text(item.get("word")).strip()):
            continue
        # A word that could not be aligned has no times: it starts where the last one ended.
        start = number(item.get("start"), tokens[-1].word.end if tokens else 0.0)
        word = Word(
            word=word_text.strip('.,!?;:…"') or word_text,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=share(item.get("score")),
            speaker=voices.number(item.get("speaker"), start, number(item.get("end"))),
        )
        tokens.append(Token(word=word, written=word_text, ends_sentence=word_text.endswith((".", "?", "!"))))
    return tokens


def _sentences(sentences: Sequence[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    voices = Voices()
    return tuple(
        Utterance(
            start=round(start, 3),
            end=round(max(start, end), 3),
            speaker=voices.number(sentence.get("speaker"), start, end),
            confidence=0.0,
            transcript=text(sentence.get("text")).strip(),
        )
        for sentence in sentences
        for start, end in [_stretch(sentence)]
    )


def _stretch(sentence: Mapping[str, Any]) -> tuple[float, float]:
    """Return the start and end of a sentence, which come in one of two formats."""
    pair = sentence.get("timestamp")
    start, end = pair if isinstance(pair, list) and len(pair) == 2 else (0.0, 0.0)
    return number(sentence.get("start"), number(start)), number(sentence.get("end"), number(end))
