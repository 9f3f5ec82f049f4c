"""Soniox's JSON read: pieces of words with their times, which are joined as they are and cut at spaces. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sederunt.model.transcript import Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    average,
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

Piece = Mapping[str, Any]

MARKERS = frozenset({"<end>", "<fin>"})  # an endpoint, and the answer to a flush: no words
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x9FFF),
)  # Thai, Lao, Khmer, Japanese, Chinese
_MARKS = '.,!?;:…"“”„»«()[]。、！？'


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    answer = record(body)
    place(answer, "tokens", "text")
    pieces = records(answer.get("tokens"))
    found = words_of(pieces, Voices()) or spread(text(answer.get("text")), 0.0, duration_s)
    sure(found, pieces, "text")
    return Result(utterances=ordered(utterances_of(found)), detected_lang=language_of(pieces))


def language_of(pieces: Iterable[Piece]) -> str | None:
    """Return the language of most letters."""
    letters: Counter[str] = Counter()
    for piece in pieces:
        if code := language(piece.get("language")):
            letters[code] += len(text(piece.get("text")).strip())
    return next((code for code, _ in letters.most_common(1)), None)


def words_of(pieces: Iterable[Piece], voices: Voices) -> list[Token]:
    """Return the words of pieces: a space begins one, and so does another voice, or a script without spaces."""
    found: list[Token] = []
    run: list[Piece] = []
    for piece in pieces:
        written = text(piece.get("text"))
        if written in MARKERS or not written:
            continue
        if run and (_begins(written) or _is_another(run[-1].get("speaker"), piece.get("speaker"))):
            found += _word(run, voices)
            run = []
        run.append(piece)
    return found + (_word(run, voices) if run else [])


def _is_another(one: Any, other: Any) -> bool:
    return one is not None and other is not None and bool(one != other)


def _begins(written: str) -> bool:
    first = ord(written[0])
    return written[0].isspace() or any(low <= first <= high for low, high in _UNSPACED)


def _word(run: list[Piece], voices: Voices) -> list[Token]:
    joined = "".join(text(piece.get("text")) for piece in run)
    written = joined.strip()
    if not written:
        return []
    start = number(run[0].get("start_ms")) / 1000
    end = number(run[-1].get("end_ms"), start * 1000) / 1000
    label = next((found for piece in run if (found := piece.get("speaker")) is not None), None)
    word = Word(
        word=written.strip(_MARKS) or written,
        start=round(start, 3),
        end=round(max(start, end), 3),
        confidence=average(share(piece.get("confidence")) for piece in run),
        speaker=voices.number(label, start, end),
    )
    return [
        Token(
            word=word,
            written=written,
            glued=not joined[0].isspace() and _begins(joined),
            ends_sentence=written.endswith((".", "?", "!", "。", "？", "！")),
        )
    ]
