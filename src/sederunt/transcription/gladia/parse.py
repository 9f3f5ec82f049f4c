"""Gladia's JSON read: utterances with words that keep the space before them, of jobs and of sessions alike. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sederunt.model.transcript import Utterance, Word
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
    """Return a finished job's transcript. Everything may be missing: silence has no words."""
    transcription = record(record(record(body).get("result")).get("transcription"))
    voices = Voices()
    utterances: list[Utterance] = []
    seconds: Counter[str] = Counter()
    for each in records(transcription.get("utterances")):
        utterances += utterances_of(tokens(each, voices))
        if code := language(each.get("language")):
            seconds[code] += max(1, round(number(each.get("end")) - number(each.get("start"))))
    listed = transcription.get("languages")
    for tag in listed if isinstance(listed, list) else []:
        if code := language(tag):
            seconds[code] += 0
    return Result(utterances=ordered(utterances), detected_lang=next((c for c, _ in seconds.most_common(1)), None))


def tokens(utterance: Mapping[str, Any], voices: Voices) -> list[Token]:
    """Return the words of an utterance; one without a space before it goes on with the last, as in Japanese."""
    channel, voice = utterance.get("channel"), voices.number(_label(utterance))
    found: list[Token] = []
    words = records(utterance.get("words"))
    has_spaces = any(text(item.get("word"))[:1].isspace() for item in words[1:])
    for item in words:
        raw = text(item.get("word"))
        written = raw.strip()
        if not written:
            continue
        start = number(item.get("start"), number(utterance.get("start")))
        word = Word(
            word=written.strip(_MARKS) or written,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=share(item.get("confidence")),
            speaker=voice,
        )
        found.append(
            Token(
                word=word,
                written=written,
                glued=bool(found) and has_spaces and not raw[:1].isspace(),
                ends_sentence=written.endswith((".", "?", "!")),
                channel=channel if isinstance(channel, int) else None,
            )
        )
    return found


def _label(utterance: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return what tells the voice: the speaker, within its channel; None where nobody was told apart."""
    speaker, channel = utterance.get("speaker"), utterance.get("channel")
    if not isinstance(speaker, int):
        return None
    return (channel if isinstance(channel, int) else 0, speaker)
