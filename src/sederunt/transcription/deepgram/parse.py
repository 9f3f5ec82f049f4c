"""Deepgram's JSON read: of a file's answer, and of a stream's messages. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud.reading import (
    Token,
    Voices,
    language,
    listed,
    number,
    ordered,
    place,
    records,
    share,
    spread,
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.cloud.reading import record as obj
from sederunt.transcription.provider import Result


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a file's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    results = obj(obj(body).get("results"))
    place(results, "channels", "utterances")
    utterances: list[Utterance] = []
    languages: Counter[str] = Counter()
    voices = Voices()
    for n, channel in enumerate(_channels(results)):
        best = obj(next(iter(records(channel.get("alternatives"))), None))
        end_s = number(obj(obj(body).get("metadata")).get("duration"), duration_s)
        found = tokens(best, voices, channel=n) or spread(text(best.get("transcript")), 0.0, end_s)
        utterances += utterances_of(sure(found, records(best.get("words")), "word", "punctuated_word"))
        for tag in (channel.get("detected_language"), *listed(best.get("languages"))):
            if code := language(tag):
                languages[code] += len(found) or 1
        for word in records(best.get("words")):
            if code := language(word.get("language")):
                languages[code] += 1
    lang = next((code for code, _ in languages.most_common(1)), None)
    return Result(utterances=ordered(utterances), detected_lang=lang)


def _channels(results: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the channels; where none of them says anything, what was said as the utterances have it."""
    channels = records(results.get("channels"))
    if any(_says(each) for channel in channels for each in records(channel.get("alternatives"))):
        return channels
    said = [each for each in records(results.get("utterances")) if _says(each)]
    return [{**(channels[0] if channels else {}), "alternatives": [{"words": _words(said)}]}] if said else channels


def _words(utterances: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the words of utterances; of one that has a text only, the words of that, spread over its time."""
    return [
        {"speaker": each.get("speaker"), **word}
        for each in utterances
        for word in records(each.get("words"))
        or [
            {"word": token.word.word, "start": token.word.start, "end": token.word.end}
            for token in spread(text(each.get("transcript")), number(each.get("start")), number(each.get("end")))
        ]
    ]


def _says(each: Mapping[str, Any]) -> bool:
    return bool(records(each.get("words")) or text(each.get("transcript")).strip())


def tokens(alternative: Mapping[str, Any], voices: Voices, *, channel: int = 0) -> list[Token]:
    """Return the words of an alternative, times in seconds, voices by first appearance."""
    found = []
    for word in records(alternative.get("words")):
        plain = text(word.get("word")) or text(word.get("punctuated_word"))
        if not plain.strip():
            continue
        written = text(word.get("punctuated_word")) or plain
        start = number(word.get("start"))
        said = Word(
            word=plain,
            start=round(start, 3),
            end=round(max(start, number(word.get("end"), start)), 3),
            confidence=share(word.get("confidence"), 0.0),
            speaker=voices.number(word.get("speaker"), start, number(word.get("end"))),
        )
        found.append(
            Token(word=said, written=written, ends_sentence=written.endswith((".", "?", "!")), channel=channel)
        )
    return found
