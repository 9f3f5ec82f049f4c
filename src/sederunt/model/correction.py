"""Apply people's corrections to a transcript: a word, a segment's speaker, a participant's name. Pure.

A correction holds the text before it and changes nothing else: it has no effect on a new transcript that says something
different there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sederunt.model.transcript import Segment, Transcript, Utterance, Word


class CorrectionKind(StrEnum):
    """The subject of a correction."""

    WORD = "word"
    SPEAKER = "speaker"
    PARTICIPANT = "participant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """One correction. Later ones apply to the result of earlier ones."""

    id: UUID
    kind: CorrectionKind
    segment: int | None  # for a word or a speaker
    word: int | None  # counted through the segment's utterances
    before: str | None  # None: the segment had no speaker's name
    after: str
    made_by: str
    created_at: datetime


def corrected(transcript: Transcript, corrections: Iterable[Correction]) -> Transcript:
    """Return the transcript with the corrections applied in their order.

    The time grows with the sum of both lengths, not with their product.
    """
    speakers = _Speakers([segment.speaker_name for segment in transcript.segments])
    named_places: set[int] = set()
    words: dict[int, list[Correction]] = {}
    for correction in corrections:
        place = correction.segment
        if correction.kind is CorrectionKind.PARTICIPANT:
            speakers.rename(correction.before, correction.after)
        elif place is None or place >= len(transcript.segments):
            continue
        elif correction.kind is CorrectionKind.WORD:
            words.setdefault(place, []).append(correction)
        elif speakers.name_of(place) == correction.before:
            speakers.name(place, correction.after)
            named_places.add(place)
    return replace(
        transcript,
        segments=tuple(
            _with_words(_spoken_by(segment, speakers.name_of(place), place in named_places), words.get(place, ()))
            for place, segment in enumerate(transcript.segments)
        ),
    )


def corrected_names(names: Iterable[str], corrections: Sequence[Correction]) -> list[str]:
    """Return the corrected names of participants."""
    final_names: dict[str | None, str] = {}  # name → its final name after this and all later corrections
    for correction in reversed(corrections):
        if correction.kind is CorrectionKind.PARTICIPANT:
            final_names[correction.before] = final_names.get(correction.after, correction.after)
    return [final_names.get(name, name) for name in names]


def word_at(segment: Segment, place: int) -> Word | None:
    """Return the word at a place, counted through the segment's utterances."""
    words = [word for utterance in segment.utterances for word in utterance.words]
    return words[place] if 0 <= place < len(words) else None


class _Speakers:
    """The speakers of segments. Segments of one name are a group, which is renamed as a whole."""

    def __init__(self, names: Sequence[str | None]) -> None:
        self._names: list[str | None] = []  # of each group
        self._went_into: list[int] = []  # the group that each group was merged into; itself if none
        self._groups: dict[str | None, int] = {}
        self._of = [self._group(name) for name in names]

    def name_of(self, place: int) -> str | None:
        """Return a segment's current name."""
        group, merged_into = self._of[place], self._went_into
        while merged_into[group] != group:
            merged_into[group] = merged_into[merged_into[group]]  # path halving: the next lookup is shorter
            group = merged_into[group]
        return self._names[group]

    def name(self, place: int, name: str) -> None:
        """Give one segment a name."""
        self._of[place] = self._group(name)

    def rename(self, before: str | None, after: str) -> None:
        """Give all segments of one name another name."""
        group = self._groups.pop(before, None)
        if group is not None:
            self._went_into[group] = self._groups.setdefault(after, group)
            self._names[group] = after

    def _group(self, name: str | None) -> int:
        group = self._groups.setdefault(name, len(self._names))
        if group == len(self._names):
            self._names.append(name)
            self._went_into.append(group)
        return group


def _spoken_by(segment: Segment, name: str | None, is_named: bool) -> Segment:
    if is_named:
        return replace(segment, speaker_name=name, potential_speaker_names=None)
    return segment if segment.speaker_name == name else replace(segment, speaker_name=name)


def _with_words(segment: Segment, corrections: Sequence[Correction]) -> Segment:
    new_words = _said(segment, corrections)
    if not new_words:
        return segment
    utterances: list[Utterance] = []
    first = 0
    for utterance in segment.utterances:
        own_words = {n: new_words[first + n] for n in range(len(utterance.words)) if first + n in new_words}
        utterances.append(_spoken_otherwise(utterance, own_words) if own_words else utterance)
        first += len(utterance.words)
    text = " ".join(utterance.transcript for utterance in utterances)
    transcript = _spoken_in(segment.transcript, segment.utterances, utterances)
    return replace(segment, utterances=tuple(utterances), transcript=text if transcript is None else transcript)


def _said(segment: Segment, corrections: Sequence[Correction]) -> dict[int, str]:
    """Return the corrected words, by their places in the segment."""
    if not corrections:
        return {}
    words = [word.word for utterance in segment.utterances for word in utterance.words]
    new_words: dict[int, str] = {}
    for correction in corrections:
        place = correction.word
        if place is not None and 0 <= place < len(words) and new_words.get(place, words[place]) == correction.before:
            new_words[place] = correction.after
    return new_words


def _spoken_in(text: str, before: Sequence[Utterance], after: Sequence[Utterance]) -> str | None:
    """Return the segment's text with its utterances' new texts in their places; None if the old ones are not in it."""
    parts: list[str] = []
    begin = 0
    for old, new in zip(before, after, strict=True):
        position = text.find(old.transcript, begin)
        if position < 0:
            return None
        parts += [text[begin:position], new.transcript]
        begin = position + len(old.transcript)
    return "".join([*parts, text[begin:]])


def _spoken_otherwise(utterance: Utterance, new_words: Mapping[int, str]) -> Utterance:
    """Return the utterance with these words, by their places, also in its text."""
    words = tuple(
        replace(word, word=new_words[n]) if n in new_words else word for n, word in enumerate(utterance.words)
    )
    text, parts, begin = utterance.transcript, list[str](), 0
    for number, word in enumerate(utterance.words[: max(new_words) + 1]):
        position = text.find(word.word, begin)
        if position < 0:  # the text does not contain its words literally
            return replace(utterance, words=words, transcript=" ".join(word.word for word in words))
        parts += [text[begin:position], words[number].word]
        begin = position + len(word.word)
    return replace(utterance, words=words, transcript="".join([*parts, text[begin:]]))
