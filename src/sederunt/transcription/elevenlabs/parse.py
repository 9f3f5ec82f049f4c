"""ElevenLabs' JSON read: words and the spaces between them, one after another. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    status_word,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

_MARKS = '.,!?;:…"“”„»«()[]'


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    answer = record(body)
    place(answer, "words", "text")
    items = records(answer.get("words"))
    found = _tokens(items)
    if not found and not any(_kind(item) == "audio_event" for item in items):  # its text would be "(laughter)"
        found = spread(text(answer.get("text")), 0.0, number(answer.get("audio_duration_secs"), duration_s))
    sure(found, items, "text")
    return Result(utterances=ordered(utterances_of(found)), detected_lang=language(answer.get("language_code")))


def _kind(item: Mapping[str, Any]) -> str:
    return status_word(item.get("type")) or "word"


def _tokens(items: Sequence[Mapping[str, Any]]) -> list[Token]:
    """Return the words; a word with no space item before it goes on with the last one, as in Japanese."""
    has_spaces = any(_kind(item) == "spacing" for item in items)
    voices, found, spaced = Voices(), list[Token](), True
    for item in items:
        kind = _kind(item)
        if kind == "spacing":
            spaced = True
        if kind != "word" or not (written := text(item.get("text")).strip()):
            continue
        start = number(item.get("start"))
        word = Word(
            word=written.strip(_MARKS) or written,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=_confidence(item.get("logprob")),
            speaker=voices.number(item.get("speaker_id"), start, number(item.get("end"))),
        )
        found.append(
            Token(
                word=word,
                written=written,
                glued=bool(found) and has_spaces and not spaced,
                ends_sentence=written.endswith((".", "?", "!")),
            )
        )
        spaced = False
    return found


def _confidence(logprob: Any) -> float:
    """Return the probability of a word from its natural logarithm; 0 where there is none."""
    value = number(logprob, -math.inf) if not isinstance(logprob, bool) else -math.inf
    return share(math.exp(min(value, 0.0)))
