"""Parse Soniox's JSON: pieces of words with times, joined unchanged and split at spaces. Pure."""

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

MARKERS = frozenset({"<end>", "<fin>"})  # an endpoint, and the answer to a flush; not words
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x9FFF),
)  # Thai, Lao, Khmer, Japanese, Chinese
_MARKS = '.,!?;:…"“”„»«()[]。、！？'


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    answer = record(body)
    place(answer, "tokens", "text")
    pieces = records(answer.get("tokens"))
    words = words_of(pieces, Voices()) or spread(text(answer.get("text")), 0.0, duration_s)
    sure(words, pieces, "text")
    return Result(utterances=ordered(utterances_of(words)), detected_lang=language_of(pieces))


def language_of(pieces: Iterable[Piece]) -> str | None:
    """Return the language with most letters."""
    letters: Counter[str] = Counter()
    for piece in pieces:
        if code := language(piece.get("language")):
            letters[code] += len(text(piece.get("text")).strip())
    return next((code for code, _ in letters.most_common(1)), None)


def words_of(pieces: Iterable[Piece], voices: Voices) -> list[Token]:
    """Return the words of pieces: a space, another voice or a script without spaces begins a new one."""
    words: list[Token] = []
    run: list[Piece] = []
    for piece in pieces:
        piece_text = text(piece.get("text"))
        if piece_text in MARKERS or not piece_text:
            continue
        if run and (_begins(piece_text) or _is_another(run[-1].get("speaker"), piece.get("speaker"))):
            words += _word(run, voices)
            run = []
        run.append(piece)
    return words + (_word(run, voices) if run else [])


def _is_another(one: Any, other: Any) -> bool:
    return one is not None and other is not None and bool(one != other)


def _begins(piece_text: str) -> bool:
    first = ord(piece_text[0])
    return piece_text[0].isspace() or any(low <= first <= high for low, high in _UNSPACED)


def _word(run: list[Piece], voices: Voices) -> list[Token]:
    run_text = "".join(text(piece.get("text")) for piece in run)
    word_text = run_text.strip()
    if not word_text:
        return []
    start = number(run[0].get("start_ms")) / 1000
    end = number(run[-1].get("end_ms"), start * 1000) / 1000
    label = next((speaker for piece in run if (speaker := piece.get("speaker")) is not None), None)
    word = Word(
        word=word_text.strip(_MARKS) or word_text,
        start=round(start, 3),
        end=round(max(start, end), 3),
        confidence=average(share(piece.get("confidence")) for piece in run),
        speaker=voices.number(label, start, end),
    )
    return [
        Token(
            word=word,
            written=word_text,
            glued=not run_text[0].isspace() and _begins(run_text),
            ends_sentence=word_text.endswith((".", "?", "!", "。", "？", "！")),
        )
    ]
