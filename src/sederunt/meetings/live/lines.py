"""What is said live, written down: each final segment with its voice, the voice's number, and its name. Pure.

A name may not be known when a segment is final: whose source it is, or who was marked as speaking, may be told a
moment later. Such a line is told anew once its name is known. A voice keeps its number for the bot's whole life, and
in mixed sound, where its label tells it from others, its name too.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sederunt.meetings.live.voice_names import VoiceNames
from sederunt.model.transcript import LiveLine, Segment, Utterance
from sederunt.transcription.live import LiveSegment
from sederunt.transcription.profanity import mask_utterances
from sederunt.transcription.text import clamped, runs
from sederunt.transcripts.attribution import MeetingFacts, NamedUtterance, SourceSpeech, is_mixed, voices_in

# What was said so lately helps to tell voices apart, and may still get its name.
RECENT_S = 120.0
# A line is told anew under a name that is now known of so much of it.
COVERED = 0.7
# Nothing that is said is shorter.
SHORTEST_S = 0.01
# Voices without a name are called so by attribution; the next page's labels begin behind those of earlier ones.
_LABELLED = re.compile(r" voice (\d+)$")


@dataclass(frozen=True, slots=True)
class _Heard:
    """One segment of a source, and the lines it became."""

    utterance: Utterance
    lines: tuple[str, ...] = ()
    label: int | None = None  # whose voice, where voices of the source are told apart


class LiveLines:
    """The lines of one bot.

    Args:
        kept: what earlier holders and pages wrote down.
        mask_lang: the language whose profanity is masked where a segment tells none, "" for one that is not known;
            None: nothing is masked.
    """

    def __init__(self, kept: Iterable[LiveLine] = (), *, mask_lang: str | None = None) -> None:
        self._mask_lang = mask_lang
        self._langs: dict[str, str] = {}  # source → the language of its last final segment that told one
        self._numbers: dict[str, int] = {}
        self._drafted: dict[str, int] = {}  # voices without a line so far → the number that their drafts were told with
        self._lines: dict[str, LiveLine] = {}
        self._heard: dict[str, dict[str, _Heard]] = {}  # source → segment id → what was said
        self._names = VoiceNames()
        self._first_label = 0
        for line in kept:
            self._numbers.setdefault(line.voice, line.segment.speaker)
            if found := _LABELLED.search(line.voice):
                self._first_label = max(self._first_label, int(found[1]) + 1)
            self._remember(line, line.segment_id, _Heard(line.segment.utterances[0], (line.segment_id,)))

    def final(self, said: LiveSegment, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of a final segment: several where people share it. The first has the segment's id."""
        if said.lang:
            self._langs[said.source] = said.lang
        known = self._heard.get(said.source, {}).get(said.segment_id)
        heard = self._heard_now(said)
        if known is not None:
            return self._revised(said, known, heard, meeting)
        self._forget(said.end - RECENT_S)
        parts = self._parts(said, heard, meeting)
        ids = tuple(said.segment_id if n == 0 else f"{said.segment_id}.{n + 1}" for n in range(len(parts)))
        lines = [
            LiveLine(
                segment_id=id_,
                revision=0,
                source=said.source,
                voice=part.voice,
                segment=self._segment(part, said.source),
            )
            for id_, part in zip(ids, parts, strict=True)
        ]
        for line in lines:
            self._remember(line, said.segment_id, replace(heard, lines=ids))
        return lines

    @property
    def lacks_names(self) -> bool:
        """Return whether a recent line has no name yet."""
        return any(line.segment.speaker_name is None for line in self._lines.values())

    def renamed(self, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of recent segments that had no name and have one now."""
        lines = []
        for source in list(self._heard):
            for told_apart in (False, True):
                heard = self._heard_in(source, told_apart=told_apart, meeting=meeting)
                mine = [self._lines[id_] for each in heard.values() for id_ in each.lines]
                unnamed = [line for line in mine if line.segment.speaker_name is None]
                parts = self._voices(source, meeting, heard, told_apart=told_apart) if unnamed else []
                found = [(line, _covering(line, parts)) for line in unnamed]
                for line, part in found:
                    if part is not None:
                        lines.append(self._named(line, self._names.recalled(part, meeting) if told_apart else part))
        return lines

    def draft(self, said: LiveSegment, meeting: MeetingFacts) -> Mapping[str, object]:
        """Return the data of a `ts-draft` message: a segment that is still being spoken."""
        heard = self._heard_now(said)
        parts = self._parts(said, heard, meeting)
        voice, name = (parts[-1].voice, parts[-1].name) if parts else ("", None)
        return {
            "segment_id": said.segment_id,
            "transcript": heard.utterance.transcript,
            "start": said.start,
            "end": said.end,
            "speaker": self._draft_number(voice, said.source) if parts else self._next_number(),
            "speaker_name": name,
        }

    def _heard_now(self, said: LiveSegment) -> _Heard:
        """Return a segment as it is kept, its lines left open."""
        label = None if said.label is None else self._first_label + said.label
        number = label or 0
        utterance = Utterance(
            start=said.start,
            end=said.end,
            speaker=number,
            confidence=round(said.confidence, 4),
            transcript=said.transcript.strip(),
            words=tuple(replace(word, speaker=number) for word in said.words),
        )
        if self._mask_lang is not None:
            lang = said.lang or self._langs.get(said.source) or self._mask_lang
            (utterance,) = mask_utterances((utterance,), lang)
        return _Heard(utterance, label=label)

    def _parts(self, said: LiveSegment, heard: _Heard, meeting: MeetingFacts) -> list[NamedUtterance]:
        """Return who says what in this segment; others of its source may be said at the same time."""
        told_apart = heard.label is not None and is_mixed(said.source, meeting.links)
        of_late = self._heard_in(said.source, told_apart=told_apart, meeting=meeting)
        voices = self._voices(said.source, meeting, {**of_late, said.segment_id: heard}, told_apart=told_apart)
        own = clamped(heard.utterance, meeting.duration_s)  # as attribution cuts it
        mine = [part for part in voices if _is_of(part.utterance, own)]
        return [self._names.recalled(part, meeting) for part in mine] if told_apart else mine

    def _heard_in(self, source: str, *, told_apart: bool, meeting: MeetingFacts) -> dict[str, _Heard]:
        """Return what was said of late in a source, by segment: where voices are told apart, or the rest of it."""
        labelled = is_mixed(source, meeting.links)
        heard = self._heard.get(source, {}).items()
        return {id_: each for id_, each in heard if (labelled and each.label is not None) == told_apart}

    def _voices(
        self, source: str, meeting: MeetingFacts, heard: Mapping[str, _Heard], *, told_apart: bool
    ) -> list[NamedUtterance]:
        """Return who says what in these segments of a source; all others help to judge."""
        mixed = is_mixed(source, meeting.links)
        speech = SourceSpeech(source=source, utterances=_in_order(heard), mixed=mixed, diarized=told_apart)
        rest = (
            (other, self._heard_in(other, told_apart=labelled, meeting=meeting), labelled)
            for other in self._heard
            for labelled in (False, True)
            if (other, labelled) != (source, told_apart)
        )
        others = (
            SourceSpeech(
                source=other, utterances=_in_order(own), mixed=is_mixed(other, meeting.links), diarized=labelled
            )
            for other, own, labelled in rest
            if own
        )
        return voices_in(speech, meeting, others)

    def _revised(self, said: LiveSegment, known: _Heard, heard: _Heard, meeting: MeetingFacts) -> list[LiveLine]:
        """Return published lines with new words, split where the lines were so that each keeps its voice; unless the
        voice itself turned out to be somebody else's."""
        lines = [self._lines[id_] for id_ in known.lines]
        if known.label != heard.label:
            self._heard[said.source][said.segment_id] = replace(heard, lines=known.lines)
            if parts := self._parts(said, heard, meeting):
                lines = [self._of_another(line, max(parts, key=partial(_shared_s, line))) for line in lines]
        borders = [line.segment.start for line in lines[1:]]
        places = [bisect_right(borders, word.start) for word in heard.utterance.words]
        told = []
        for place, part in runs(heard.utterance, places) if borders else [(0, heard.utterance)]:
            line = lines[place or 0]
            number = line.segment.speaker
            segment = NamedUtterance(
                part, line.voice, line.segment.speaker_name, line.segment.potential_speaker_names
            ).segment(number)
            told.append(replace(line, revision=line.revision + 1, segment=segment))
        for line in told:
            self._lines[line.segment_id] = line
        return told

    def _of_another(self, line: LiveLine, part: NamedUtterance) -> LiveLine:
        """Return a line, its words as they were, as said by whoever says this part."""
        told = self._segment(part, line.source)
        segment = replace(
            line.segment,
            speaker=told.speaker,
            speaker_name=told.speaker_name,
            potential_speaker_names=told.potential_speaker_names,
        )
        return replace(line, voice=part.voice, segment=segment)

    def _named(self, line: LiveLine, part: NamedUtterance) -> LiveLine:
        """Return a line whose voice turned out to be somebody's. A source of one person hands its number over."""
        if part.voice not in self._numbers:
            own = line.voice == f"source {line.source}" and not line.source.startswith("track-")
            self._numbers[part.voice] = self._numbers[line.voice] if own else self._next_number()
        said = replace(part, utterance=line.segment.utterances[0])  # it may have been revised since
        new = replace(
            line, revision=line.revision + 1, voice=said.voice, segment=said.segment(self._numbers[part.voice])
        )
        self._lines[line.segment_id] = new
        return new

    def _segment(self, part: NamedUtterance, source: str) -> Segment:
        if part.voice not in self._numbers:
            self._numbers[part.voice] = self._draft_number(part.voice, source)
            del self._drafted[part.voice]
        return part.segment(self._numbers[part.voice])

    def _draft_number(self, voice: str, source: str) -> int:
        """Return the number that a voice keeps. One that gets its name between two drafts is the same voice."""
        if voice in self._numbers:
            return self._numbers[voice]
        if voice not in self._drafted:
            self._drafted[voice] = self._drafted.pop(f"source {source}", self._next_number())
        return self._drafted[voice]

    def _next_number(self) -> int:
        return max((*self._numbers.values(), *self._drafted.values()), default=-1) + 1

    def _remember(self, line: LiveLine, segment_id: str, heard: _Heard) -> None:
        self._lines[line.segment_id] = line
        self._heard.setdefault(line.source, {})[segment_id] = heard

    def _forget(self, before_s: float) -> None:
        for heard in self._heard.values():
            for segment_id in [id_ for id_, each in heard.items() if each.utterance.end < before_s]:
                for id_ in heard.pop(segment_id).lines:
                    del self._lines[id_]


def _in_order(heard: Mapping[str, _Heard]) -> tuple[Utterance, ...]:
    return tuple(sorted((each.utterance for each in heard.values()), key=lambda utterance: utterance.start))


def _is_of(part: Utterance, whole: Utterance) -> bool:
    """Return whether an utterance is another, or was cut from it."""
    return part.words[0] in whole.words if part.words else part == whole


def _covering(line: LiveLine, parts: Iterable[NamedUtterance]) -> NamedUtterance | None:
    """Return the part that covers most of a line and has a name; None if there is none."""
    length_s = max(line.segment.end - line.segment.start, SHORTEST_S)
    named = (part for part in parts if part.name is not None)
    return next((part for part in named if _shared_s(line, part) >= COVERED * length_s), None)


def _shared_s(line: LiveLine, part: NamedUtterance) -> float:
    """Return how long a line and a part are both said; below zero, how far they are apart."""
    told, said = line.segment, part.utterance
    end = min(max(told.end, told.start + SHORTEST_S), max(said.end, said.start + SHORTEST_S))
    return end - max(told.start, said.start)
