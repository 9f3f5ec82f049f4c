"""SaladCloud's JSON read: words where it gives them, else sentences. Pure."""

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
    """Return a file's transcript: of its words, else sentences, else text. It never says which language it heard.

    Raises Unreadable where there is no place for words.
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
    """Return the address of a transcript that was too large for the answer; None where the answer holds it."""
    answer = record(output)
    return None if any(answer.get(name) is not None for name in _PLACES) else text(answer.get("url")) or None


def _tokens(words: Sequence[Mapping[str, Any]]) -> list[Token]:
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
            speaker=voices.number(item.get("speaker"), start, number(item.get("end"))),
        )
        found.append(Token(word=word, written=written, ends_sentence=written.endswith((".", "?", "!"))))
    return found


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
    """Return where a sentence begins and ends, which it tells in one of two ways."""
    pair = sentence.get("timestamp")
    start, end = pair if isinstance(pair, list) and len(pair) == 2 else (0.0, 0.0)
    return number(sentence.get("start"), number(start)), number(sentence.get("end"), number(end))
