"""Parse Gladia's JSON, of jobs and sessions: utterances whose words keep the space before them. Pure."""

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
    """Return a finished job's transcript, empty for silence. Raises Unreadable if the answer has no field for words."""
    result = record(record(body).get("result"))
    transcription = record(result.get("transcription"))
    place(transcription, "utterances", "full_transcript")
    voices = Voices()
    utterances: list[Utterance] = []
    seconds: Counter[str] = Counter()
    for utterance in records(transcription.get("utterances")):
        utterances += utterances_of(tokens(utterance, voices))
        if code := language(utterance.get("language")):
            seconds[code] += max(1, round(number(utterance.get("end")) - number(utterance.get("start"))))
    if not utterances:
        end = number(record(result.get("metadata")).get("audio_duration"), duration_s)
        utterances = [*utterances_of(spread(text(transcription.get("full_transcript")), 0.0, end))]
    utterance_records = records(transcription.get("utterances"))
    sure(utterances, utterance_records, "text", "words")
    sure(utterances, (word for utterance in utterance_records for word in records(utterance.get("words"))), "word")
    language_tags = transcription.get("languages")
    for tag in language_tags if isinstance(language_tags, list) else []:
        if code := language(tag):
            seconds[code] += 0
    return Result(utterances=ordered(utterances), detected_lang=next((c for c, _ in seconds.most_common(1)), None))


def tokens(utterance: Mapping[str, Any], voices: Voices) -> list[Token]:
    """Return the words of an utterance; one without a space before it is glued to the last, as in Japanese."""
    channel, voice = utterance.get("channel"), voices.number(_label(utterance), *_stretch(utterance))
    word_tokens: list[Token] = []
    words = records(utterance.get("words"))
    has_spaces = any(text(item.get("word"))[:1].isspace() for item in words[1:])
    for item in words:
        raw = text(item.get("word"))
        word_text = raw.strip()
        if not word_text:
            continue
        start = number(item.get("start"), number(utterance.get("start")))
        word = Word(
            word=word_text.strip(_MARKS) or word_text,
            start=round(start, 3),
            end=round(max(start, number(item.get("end"), start)), 3),
            confidence=share(item.get("confidence")),
            speaker=voice,
        )
        word_tokens.append(
            Token(
                word=word,
                written=word_text,
                glued=bool(word_tokens) and has_spaces and not raw[:1].isspace(),
                ends_sentence=word_text.endswith((".", "?", "!")),
                channel=channel if isinstance(channel, Hashable) else None,
            )
        )
    start, end = number(utterance.get("start")), number(utterance.get("end"))
    return word_tokens or spread(text(utterance.get("text")), start, end, speaker=voice)


def _stretch(utterance: Mapping[str, Any]) -> tuple[float, float]:
    return number(utterance.get("start")), number(utterance.get("end"))


def _label(utterance: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the channel and speaker that identify the voice; None if voices are not told apart."""
    speaker = text(utterance.get("speaker"))
    return (text(utterance.get("channel")) or "0", speaker) if speaker else None
