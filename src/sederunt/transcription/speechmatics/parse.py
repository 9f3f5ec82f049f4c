"""Parse Speechmatics' JSON, of jobs and streams: words and marks in one list. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
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
    status_word,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

Item = Mapping[str, Any]

UNKNOWN = "UU"  # the label of an unrecognised voice
_NEXT, _BOTH = "next", "both"


def parse(body: Any) -> Result:
    """Return a file's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    answer = record(body)
    place(answer, "results")
    metadata = record(answer.get("metadata"))
    delimiter = record(metadata.get("language_pack_info")).get("word_delimiter")
    items = records(answer.get("results"))
    word_tokens = sure(tokens(items, Voices(), has_spaces=delimiter != ""), items, "alternatives")
    detected_lang = _found_language(metadata) or _spoken_language(items)
    return Result(utterances=ordered(utterances_of(word_tokens)), detected_lang=detected_lang)


def tokens(items: Iterable[Item], voices: Voices, *, has_spaces: bool = True) -> list[Token]:
    """Return the words with the marks attached to them; unknown kinds of items are skipped."""
    word_tokens: list[Token] = []
    prefix = ""  # marks that belong to the next word
    is_attached = False  # the last mark also belongs to the next word
    for item in items:
        best = record(next(iter(records(item.get("alternatives"))), None))
        content = text(best.get("content"))
        if not content.strip():
            continue
        kind, target = status_word(item.get("type")), item.get("attaches_to")
        if kind == "punctuation" and target == _NEXT:
            prefix += content
        elif kind == "punctuation":
            if word_tokens:
                is_sentence_end = item.get("is_eos") is True or content in ".?!"
                word_tokens[-1] = replace(
                    word_tokens[-1], written=word_tokens[-1].written + content, ends_sentence=is_sentence_end
                )
            is_attached = target == _BOTH
        elif kind in ("word", "entity", ""):
            glued = bool(word_tokens) and (is_attached or not has_spaces)
            word_tokens.append(_token(item, best, content, prefix, voices, glued=glued))
            prefix, is_attached = "", False
    return word_tokens


def voice_of(item: Item) -> str | None:
    """Return the label of an item's voice; None if it is unknown."""
    label = text(record(next(iter(records(item.get("alternatives"))), None)).get("speaker"))
    return None if label in ("", UNKNOWN) else label


def _token(item: Item, best: Item, content: str, prefix: str, voices: Voices, *, glued: bool) -> Token:
    start = number(item.get("start_time"))
    word = Word(
        word=content,
        start=round(start, 3),
        end=round(max(start, number(item.get("end_time"), start)), 3),
        confidence=share(best.get("confidence")),
        speaker=voices.number(voice_of(item), start, number(item.get("end_time"))),
    )
    return Token(word=word, written=prefix + content, glued=glued)


def _found_language(metadata: Item) -> str | None:
    """Return the language detected for most of the time; None if none was to be detected."""
    seconds: Counter[str] = Counter()
    for stretch in records(record(metadata.get("language_identification")).get("results")):
        best = record(next(iter(records(stretch.get("alternatives"))), None))
        if code := language(best.get("language")):
            length = number(stretch.get("end_time")) - number(stretch.get("start_time"))
            seconds[code] += max(1, round(length))
    return next((code for code, _ in seconds.most_common(1)), None)


def _spoken_language(items: Iterable[Item]) -> str | None:
    """Return the language of most words; each word states its own."""
    bests = (record(next(iter(records(item.get("alternatives"))), None)) for item in items)
    language_counts = Counter(code for best in bests if (code := language(best.get("language"))))
    return next((code for code, _ in language_counts.most_common(1)), None)
