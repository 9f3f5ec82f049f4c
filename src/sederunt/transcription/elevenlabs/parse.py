"""ElevenLabs' JSON read: words and the spaces between them, one after another. Pure."""

from __future__ import annotations

import math
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
    utterances = utterances_of(_tokens(records(answer.get("words"))))
    return Result(utterances=ordered(utterances), detected_lang=language(answer.get("language_code")))


def _tokens(items: list[Any]) -> list[Token]:
    """Return the words; a word with no space item before it goes on with the last one, as in Japanese."""
    has_spaces = any(item.get("type") == "spacing" for item in items)
    voices, found, spaced = Voices(), list[Token](), True
    for item in items:
        kind = item.get("type", "word")
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
            speaker=voices.number(item.get("speaker_id")),
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
