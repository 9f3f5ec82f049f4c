"""Parse ElevenLabs' JSON: one list of words and the spaces between them. Pure."""

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
    """Return a file's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    answer = record(body)
    place(answer, "words", "text")
    items = records(answer.get("words"))
    tokens = _tokens(items)
    if not tokens and not any(_kind(item) == "audio_event" for item in items):  # its text would be "(laughter)"
        tokens = spread(text(answer.get("text")), 0.0, number(answer.get("audio_duration_secs"), duration_s))
    sure(tokens, items, "text")
    return Result(utterances=ordered(utterances_of(tokens)), detected_lang=language(answer.get("language_code")))


def _kind(item: Mapping[str, Any]) -> str:
    return status_word(item.get("type")) or "word"


def _tokens(items: Sequence[Mapping[str, Any]]) -> list[Token]:
    """Return the words; one without a space item before it is glued to the last, as in Japanese."""
    has_spaces = any(_kind(item) == "spacing" for item in items)
    voices, tokens, is_after_space = Voices(), list[Token](), True
    for item in items:
        kind = _kind(item)
        if kind == "spacing":
            is_after_space = True
        if kind != "word" or not (word_text := text(item.get("text")).strip()):
            continue
        start = number(item.get("start"))
        word = Word(
            word=word_text.strip(_MARKS) or word_text,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=_confidence(item.get("logprob")),
            speaker=voices.number(item.get("speaker_id"), start, number(item.get("end"))),
        )
        tokens.append(
            Token(
                word=word,
                written=word_text,
                glued=bool(tokens) and has_spaces and not is_after_space,
                ends_sentence=word_text.endswith((".", "?", "!")),
            )
        )
        is_after_space = False
    return tokens


def _confidence(logprob: Any) -> float:
    """Return the probability of a word from its natural logarithm; 0 without one."""
    value = number(logprob, -math.inf) if not isinstance(logprob, bool) else -math.inf
    return share(math.exp(min(value, 0.0)))
