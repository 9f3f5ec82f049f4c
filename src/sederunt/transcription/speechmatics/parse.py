"""Speechmatics' JSON read: words and marks in one list, of jobs and of streams alike. Pure."""

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

UNKNOWN = "UU"  # a voice that it could not tell
_NEXT, _BOTH = "next", "both"


def parse(body: Any) -> Result:
    """Return a file's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    answer = record(body)
    place(answer, "results")
    metadata = record(answer.get("metadata"))
    delimiter = record(metadata.get("language_pack_info")).get("word_delimiter")
    items = records(answer.get("results"))
    found = sure(tokens(items, Voices(), spaced=delimiter != ""), items, "alternatives")
    detected = _found_language(metadata) or _spoken_language(items)
    return Result(utterances=ordered(utterances_of(found)), detected_lang=detected)


def tokens(items: Iterable[Item], voices: Voices, *, spaced: bool = True) -> list[Token]:
    """Return the words with the marks that are attached to them; kinds of items that are not known are left out."""
    found: list[Token] = []
    before = ""  # a mark that belongs to the word to come
    attached = False  # the last mark goes on into the next word
    for item in items:
        best = record(next(iter(records(item.get("alternatives"))), None))
        content = text(best.get("content"))
        if not content.strip():
            continue
        kind, to = status_word(item.get("type")), item.get("attaches_to")
        if kind == "punctuation" and to == _NEXT:
            before += content
        elif kind == "punctuation":
            if found:
                ends = item.get("is_eos") is True or content in ".?!"
                found[-1] = replace(found[-1], written=found[-1].written + content, ends_sentence=ends)
            attached = to == _BOTH
        elif kind in ("word", "entity", ""):
            glued = bool(found) and (attached or not spaced)
            found.append(_token(item, best, content, before, voices, glued=glued))
            before, attached = "", False
    return found


def voice_of(item: Item) -> str | None:
    """Return the label of an item's voice; None where it is not known."""
    label = text(record(next(iter(records(item.get("alternatives"))), None)).get("speaker"))
    return None if label in ("", UNKNOWN) else label


def _token(item: Item, best: Item, content: str, before: str, voices: Voices, *, glued: bool) -> Token:
    start = number(item.get("start_time"))
    word = Word(
        word=content,
        start=round(start, 3),
        end=round(max(start, number(item.get("end_time"), start)), 3),
        confidence=share(best.get("confidence")),
        speaker=voices.number(voice_of(item), start, number(item.get("end_time"))),
    )
    return Token(word=word, written=before + content, glued=glued)


def _found_language(metadata: Item) -> str | None:
    """Return the language that was found for most of the time; None where none was looked for."""
    seconds: Counter[str] = Counter()
    for stretch in records(record(metadata.get("language_identification")).get("results")):
        best = record(next(iter(records(stretch.get("alternatives"))), None))
        if code := language(best.get("language")):
            length = number(stretch.get("end_time")) - number(stretch.get("start_time"))
            seconds[code] += max(1, round(length))
    return next((code for code, _ in seconds.most_common(1)), None)


def _spoken_language(items: Iterable[Item]) -> str | None:
    """Return the language of most words; each names its own."""
    bests = (record(next(iter(records(item.get("alternatives"))), None)) for item in items)
    spoken = Counter(code for best in bests if (code := language(best.get("language"))))
    return next((code for code, _ in spoken.most_common(1)), None)
