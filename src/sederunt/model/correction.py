"""What people put right in a transcript: a word, the speaker of a segment, a participant's name. Pure.

A correction says what stood there before. It changes only what still stands there: over a transcript that was made anew
it means nothing where that says something else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sederunt.model.transcript import Segment, Transcript, Utterance, Word


class CorrectionKind(StrEnum):
    """What a correction is about."""

    WORD = "word"
    SPEAKER = "speaker"
    PARTICIPANT = "participant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """One correction. Later ones see what earlier ones left."""

    id: UUID
    kind: CorrectionKind
    segment: int | None  # of a word or a speaker
    word: int | None  # counted through the segment's utterances
    before: str | None  # None: the segment had no speaker's name
    after: str
    made_by: str
    created_at: datetime


def corrected(transcript: Transcript, corrections: Iterable[Correction]) -> Transcript:
    """Return the transcript as it is to be read, the corrections in their order."""
    segments = list(transcript.segments)
    for correction in corrections:
        _apply(segments, correction)
    return replace(transcript, segments=tuple(segments))


def corrected_name(name: str, corrections: Iterable[Correction]) -> str:
    """Return a participant's name as it is to be read."""
    for correction in corrections:
        if correction.kind is CorrectionKind.PARTICIPANT and correction.before == name:
            name = correction.after
    return name


def word_at(segment: Segment, place: int) -> Word | None:
    """Return the word at a place, counted through the segment's utterances."""
    words = [word for utterance in segment.utterances for word in utterance.words]
    return words[place] if 0 <= place < len(words) else None


def _apply(segments: list[Segment], correction: Correction) -> None:
    place = correction.segment
    if correction.kind is CorrectionKind.PARTICIPANT:
        for number, segment in enumerate(segments):
            if segment.speaker_name == correction.before:
                segments[number] = replace(segment, speaker_name=correction.after)
    elif place is None or place >= len(segments):
        return
    elif correction.kind is CorrectionKind.SPEAKER:
        if segments[place].speaker_name == correction.before:
            segments[place] = replace(segments[place], speaker_name=correction.after, potential_speaker_names=None)
    else:
        segments[place] = _with_word(segments[place], correction)


def _with_word(segment: Segment, correction: Correction) -> Segment:
    place = correction.word
    known = None if place is None else word_at(segment, place)
    if place is None or known is None or known.word != correction.before:
        return segment
    utterances: list[Utterance] = []
    for utterance in segment.utterances:
        if 0 <= place < len(utterance.words):
            utterance = _spoken_otherwise(utterance, place, correction.after)
        place -= len(utterance.words)
        utterances.append(utterance)
    text = " ".join(utterance.transcript for utterance in utterances)
    whole = _spoken_in(segment.transcript, segment.utterances, utterances)
    return replace(segment, utterances=tuple(utterances), transcript=text if whole is None else whole)


def _spoken_in(text: str, before: Sequence[Utterance], after: Sequence[Utterance]) -> str | None:
    """Return the segment's text with its utterances' new texts in their places; None where they do not stand in it."""
    parts: list[str] = []
    begin = 0
    for old, new in zip(before, after, strict=True):
        found = text.find(old.transcript, begin)
        if found < 0:
            return None
        parts += [text[begin:found], new.transcript]
        begin = found + len(old.transcript)
    return "".join([*parts, text[begin:]])


def _spoken_otherwise(utterance: Utterance, place: int, after: str) -> Utterance:
    words = list(utterance.words)
    text, begin = utterance.transcript, 0
    for number, word in enumerate(words[: place + 1]):
        found = text.find(word.word, begin)
        if found < 0:  # the text does not hold its words as they are
            break
        if number == place:
            text = text[:found] + after + text[found + len(word.word) :]
        begin = found + len(word.word)
    else:
        words[place] = replace(words[place], word=after)
        return replace(utterance, words=tuple(words), transcript=text)
    words[place] = replace(words[place], word=after)
    return replace(utterance, words=tuple(words), transcript=" ".join(word.word for word in words))
