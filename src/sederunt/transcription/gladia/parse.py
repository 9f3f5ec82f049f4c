"""Gladia's JSON read: utterances with words that keep the space before them, of jobs and of sessions alike. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from sederunt.model.transcript import Utterance, Word
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
    sure,
    text,
    utterances_of,
)
from sederunt.transcription.provider import Result

_MARKS = '.,!?;:…"“”„»«()[]'


def parse(body: Any, duration_s: float = 0.0) -> Result:
    """Return a finished job's transcript. Silence has no words; raises Unreadable where there is no place for any."""
    result = record(record(body).get("result"))
    transcription = record(result.get("transcription"))
    place(transcription, "utterances", "full_transcript")
    voices = Voices()
    utterances: list[Utterance] = []
    seconds: Counter[str] = Counter()
    for each in records(transcription.get("utterances")):
        utterances += utterances_of(tokens(each, voices))
        if code := language(each.get("language")):
            seconds[code] += max(1, round(number(each.get("end")) - number(each.get("start"))))
    if not utterances:
        end = number(record(result.get("metadata")).get("audio_duration"), duration_s)
        utterances = [*utterances_of(spread(text(transcription.get("full_transcript")), 0.0, end))]
    told = records(transcription.get("utterances"))
    sure(utterances, told, "text", "words")
    sure(utterances, (word for each in told for word in records(each.get("words"))), "word")
    listed = transcription.get("languages")
    for tag in listed if isinstance(listed, list) else []:
        if code := language(tag):
            seconds[code] += 0
    return Result(utterances=ordered(utterances), detected_lang=next((c for c, _ in seconds.most_common(1)), None))


def tokens(utterance: Mapping[str, Any], voices: Voices) -> list[Token]:
    """Return the words of an utterance; one without a space before it goes on with the last, as in Japanese."""
    channel, voice = utterance.get("channel"), voices.number(_label(utterance), *_stretch(utterance))
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
                channel=channel if isinstance(channel, Hashable) else None,
            )
        )
    start, end = number(utterance.get("start")), number(utterance.get("end"))
    return found or spread(text(utterance.get("text")), start, end, speaker=voice)


def _stretch(utterance: Mapping[str, Any]) -> tuple[float, float]:
    return number(utterance.get("start")), number(utterance.get("end"))


def _label(utterance: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what tells the voice: the speaker, within its channel; None where nobody was told apart."""
    speaker = text(utterance.get("speaker"))
    return (text(utterance.get("channel")) or "0", speaker) if speaker else None
