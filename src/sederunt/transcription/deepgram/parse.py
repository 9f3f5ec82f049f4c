"""Parse Deepgram's JSON, of answers for files and of stream messages. Pure."""

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
    """Return a file's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    results = obj(obj(body).get("results"))
    place(results, "channels", "utterances")
    utterances: list[Utterance] = []
    languages: Counter[str] = Counter()
    voices = Voices()
    for n, channel in enumerate(_channels(results)):
        best = obj(next(iter(records(channel.get("alternatives"))), None))
        end_s = number(obj(obj(body).get("metadata")).get("duration"), duration_s)
        word_tokens = tokens(best, voices, channel=n) or spread(text(best.get("transcript")), 0.0, end_s)
        utterances += utterances_of(sure(word_tokens, records(best.get("words")), "word", "punctuated_word"))
        for tag in (channel.get("detected_language"), *listed(best.get("languages"))):
            if code := language(tag):
                languages[code] += len(word_tokens) or 1
        for word in records(best.get("words")):
            if code := language(word.get("language")):
                languages[code] += 1
    lang = next((code for code, _ in languages.most_common(1)), None)
    return Result(utterances=ordered(utterances), detected_lang=lang)


def _channels(results: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the channels; if none of them has any words, a channel with those of the utterances."""
    channels = records(results.get("channels"))
    if any(_says(alternative) for channel in channels for alternative in records(channel.get("alternatives"))):
        return channels
    utterances = [utterance for utterance in records(results.get("utterances")) if _says(utterance)]
    return (
        [{**(channels[0] if channels else {}), "alternatives": [{"words": _words(utterances)}]}]
        if utterances
        else channels
    )


def _words(utterances: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the words of utterances; those of a mere text are spread over the time of its utterance."""
    return [
        {"speaker": utterance.get("speaker"), **word}
        for utterance in utterances
        for word in records(utterance.get("words"))
        or [
            {"word": token.word.word, "start": token.word.start, "end": token.word.end}
            for token in spread(
                text(utterance.get("transcript")), number(utterance.get("start")), number(utterance.get("end"))
            )
        ]
    ]


def _says(item: Mapping[str, Any]) -> bool:
    return bool(records(item.get("words")) or text(item.get("transcript")).strip())


def tokens(alternative: Mapping[str, Any], voices: Voices, *, channel: int = 0) -> list[Token]:
    """Return the words of an alternative, with times in seconds and voices numbered by first appearance."""
    word_tokens = []
    for item in records(alternative.get("words")):
        plain_word = text(item.get("word")) or text(item.get("punctuated_word"))
        if not plain_word.strip():
            continue
        punctuated = text(item.get("punctuated_word")) or plain_word
        start = number(item.get("start"))
        word = Word(
            word=plain_word,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=share(item.get("confidence"), 0.0),
            speaker=voices.number(item.get("speaker"), start, number(item.get("end"))),
        )
        word_tokens.append(
            Token(word=word, written=punctuated, ends_sentence=punctuated.endswith((".", "?", "!")), channel=channel)
        )
    return word_tokens
