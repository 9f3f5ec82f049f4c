"""The live transcript: each final segment with its voice, the voice's number, and the speaker's name. Pure.

The name may not be known when a segment is final: the source's owner, or who was marked as speaking, may be reported a
moment later. Such a line is published again once its name is known. A voice keeps its number for the bot's whole life,
and in mixed sound, where a label identifies it, also its name.
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

# Speech this recent helps to tell voices apart, and may still get its name.
RECENT_S = 120.0
# A line is published again once a name is known for this share of it.
COVERED = 0.7
# The least length of speech.
SHORTEST_S = 0.01
# Attribution gives voices without a name these labels; the next page's labels continue after those of earlier pages.
_LABELLED = re.compile(r" voice (\d+)$")


@dataclass(frozen=True, slots=True)
class _Heard:
    """One segment of a source, and the lines made from it."""

    utterance: Utterance
    lines: tuple[str, ...] = ()
    label: int | None = None  # of the voice, if voices of the source are told apart


class LiveLines:
    """The lines of one bot.

    Args:
        kept: what earlier holders and pages wrote down.
        mask_lang: the language whose profanity is masked if a segment names none, "" for an unknown one; None: nothing
            is masked.
    """

    def __init__(self, earlier_lines: Iterable[LiveLine] = (), *, mask_lang: str | None = None) -> None:
        self._mask_lang = mask_lang
        self._langs: dict[str, str] = {}  # source → the language of its last final segment that named one
        self._numbers: dict[str, int] = {}
        self._drafted: dict[str, int] = {}  # voice without a line so far → the number in its drafts
        self._lines: dict[str, LiveLine] = {}
        self._heard: dict[str, dict[str, _Heard]] = {}  # source → segment id → segment
        self._names = VoiceNames()
        self._first_label = 0
        for line in earlier_lines:
            self._numbers.setdefault(line.voice, line.segment.speaker)
            if label_match := _LABELLED.search(line.voice):
                self._first_label = max(self._first_label, int(label_match[1]) + 1)
            self._remember(line, line.segment_id, _Heard(line.segment.utterances[0], (line.segment_id,)))

    def final(self, live_segment: LiveSegment, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of a final segment: several if people share it. The first has the segment's id."""
        if live_segment.lang:
            self._langs[live_segment.source] = live_segment.lang
        previous = self._heard.get(live_segment.source, {}).get(live_segment.segment_id)
        current = self._heard_now(live_segment)
        if previous is not None:
            return self._revised(live_segment, previous, current, meeting)
        self._forget(live_segment.end - RECENT_S)
        parts = self._parts(live_segment, current, meeting)
        ids = tuple(
            live_segment.segment_id if n == 0 else f"{live_segment.segment_id}.{n + 1}" for n in range(len(parts))
        )
        lines = [
            LiveLine(
                segment_id=id_,
                revision=0,
                source=live_segment.source,
                voice=part.voice,
                segment=self._segment(part, live_segment.source),
            )
            for id_, part in zip(ids, parts, strict=True)
        ]
        for line in lines:
            self._remember(line, live_segment.segment_id, replace(current, lines=ids))
        return lines

    @property
    def lacks_names(self) -> bool:
        """Return whether a recent line has no name yet."""
        return any(line.segment.speaker_name is None for line in self._lines.values())

    def renamed(self, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of recent segments that had no name and have one now."""
        lines = []
        for source in list(self._heard):
            for has_labels in (False, True):
                entries = self._heard_in(source, has_labels=has_labels, meeting=meeting)
                own_lines = [self._lines[id_] for entry in entries.values() for id_ in entry.lines]
                unnamed = [line for line in own_lines if line.segment.speaker_name is None]
                parts = self._voices(source, meeting, entries, has_labels=has_labels) if unnamed else []
                matches = [(line, _covering(line, parts)) for line in unnamed]
                for line, part in matches:
                    if part is not None:
                        lines.append(self._named(line, self._names.recalled(part, meeting) if has_labels else part))
        return lines

    def draft(self, live_segment: LiveSegment, meeting: MeetingFacts) -> Mapping[str, object]:
        """Return the data of a `ts-draft` message: a segment that is still being spoken."""
        entry = self._heard_now(live_segment)
        parts = self._parts(live_segment, entry, meeting)
        voice, name = (parts[-1].voice, parts[-1].name) if parts else ("", None)
        return {
            "segment_id": live_segment.segment_id,
            "transcript": entry.utterance.transcript,
            "start": live_segment.start,
            "end": live_segment.end,
            "speaker": self._draft_number(voice, live_segment.source) if parts else self._next_number(),
            "speaker_name": name,
        }

    def _heard_now(self, live_segment: LiveSegment) -> _Heard:
        label = None if live_segment.label is None else self._first_label + live_segment.label
        number = label or 0
        utterance = Utterance(
            start=live_segment.start,
            end=live_segment.end,
            speaker=number,
            confidence=round(live_segment.confidence, 4),
            transcript=live_segment.transcript.strip(),
            words=tuple(replace(word, speaker=number) for word in live_segment.words),
        )
        if self._mask_lang is not None:
            lang = live_segment.lang or self._langs.get(live_segment.source) or self._mask_lang
            (utterance,) = mask_utterances((utterance,), lang)
        return _Heard(utterance, label=label)

    def _parts(self, live_segment: LiveSegment, entry: _Heard, meeting: MeetingFacts) -> list[NamedUtterance]:
        # Other segments of the source may overlap with this one.
        has_labels = entry.label is not None and is_mixed(live_segment.source, meeting.links)
        recent_entries = self._heard_in(live_segment.source, has_labels=has_labels, meeting=meeting)
        voices = self._voices(
            live_segment.source, meeting, {**recent_entries, live_segment.segment_id: entry}, has_labels=has_labels
        )
        utterance = clamped(entry.utterance, meeting.duration_s)  # as attribution cuts it
        own_parts = [part for part in voices if _is_of(part.utterance, utterance)]
        return [self._names.recalled(part, meeting) for part in own_parts] if has_labels else own_parts

    def _heard_in(self, source: str, *, has_labels: bool, meeting: MeetingFacts) -> dict[str, _Heard]:
        # Either the segments whose voices are told apart, or the rest.
        mixed = is_mixed(source, meeting.links)
        entries = self._heard.get(source, {}).items()
        return {id_: entry for id_, entry in entries if (mixed and entry.label is not None) == has_labels}

    def _voices(
        self, source: str, meeting: MeetingFacts, entries: Mapping[str, _Heard], *, has_labels: bool
    ) -> list[NamedUtterance]:
        # The segments of all other sources help to judge.
        mixed = is_mixed(source, meeting.links)
        speech = SourceSpeech(source=source, utterances=_in_order(entries), mixed=mixed, diarized=has_labels)
        other_groups = (
            (other, self._heard_in(other, has_labels=other_has_labels, meeting=meeting), other_has_labels)
            for other in self._heard
            for other_has_labels in (False, True)
            if (other, other_has_labels) != (source, has_labels)
        )
        others = (
            SourceSpeech(
                source=other,
                utterances=_in_order(other_entries),
                mixed=is_mixed(other, meeting.links),
                diarized=other_has_labels,
            )
            for other, other_entries, other_has_labels in other_groups
            if other_entries
        )
        return voices_in(speech, meeting, others)

    def _revised(
        self, live_segment: LiveSegment, previous: _Heard, current: _Heard, meeting: MeetingFacts
    ) -> list[LiveLine]:
        # Published lines get their new words, split where the lines were split so that each keeps its voice, unless the
        # voice turned out to be somebody else's.
        lines = [self._lines[id_] for id_ in previous.lines]
        if previous.label != current.label:
            self._heard[live_segment.source][live_segment.segment_id] = replace(current, lines=previous.lines)
            if parts := self._parts(live_segment, current, meeting):
                lines = [self._of_another(line, max(parts, key=partial(_shared_s, line))) for line in lines]
        borders = [line.segment.start for line in lines[1:]]
        places = [bisect_right(borders, word.start) for word in current.utterance.words]
        new_lines = []
        for place, part in runs(current.utterance, places) if borders else [(0, current.utterance)]:
            line = lines[place or 0]
            number = line.segment.speaker
            segment = NamedUtterance(
                part, line.voice, line.segment.speaker_name, line.segment.potential_speaker_names
            ).segment(number)
            new_lines.append(replace(line, revision=line.revision + 1, segment=segment))
        for line in new_lines:
            self._lines[line.segment_id] = line
        return new_lines

    def _of_another(self, line: LiveLine, part: NamedUtterance) -> LiveLine:
        # The words stay as they were; the speaker is that of the part.
        new_segment = self._segment(part, line.source)
        segment = replace(
            line.segment,
            speaker=new_segment.speaker,
            speaker_name=new_segment.speaker_name,
            potential_speaker_names=new_segment.potential_speaker_names,
        )
        return replace(line, voice=part.voice, segment=segment)

    def _named(self, line: LiveLine, part: NamedUtterance) -> LiveLine:
        # The line's speaker became known. The number of a source of one person passes to that person.
        if part.voice not in self._numbers:
            is_own_source = line.voice == f"source {line.source}" and not line.source.startswith("track-")
            self._numbers[part.voice] = self._numbers[line.voice] if is_own_source else self._next_number()
        new_part = replace(part, utterance=line.segment.utterances[0])  # it may have been revised since
        new_line = replace(
            line, revision=line.revision + 1, voice=new_part.voice, segment=new_part.segment(self._numbers[part.voice])
        )
        self._lines[line.segment_id] = new_line
        return new_line

    def _segment(self, part: NamedUtterance, source: str) -> Segment:
        if part.voice not in self._numbers:
            self._numbers[part.voice] = self._draft_number(part.voice, source)
            del self._drafted[part.voice]
        return part.segment(self._numbers[part.voice])

    def _draft_number(self, voice: str, source: str) -> int:
        # A voice that gets its name between two drafts is still the same voice.
        if voice in self._numbers:
            return self._numbers[voice]
        if voice not in self._drafted:
            self._drafted[voice] = self._drafted.pop(f"source {source}", self._next_number())
        return self._drafted[voice]

    def _next_number(self) -> int:
        return max((*self._numbers.values(), *self._drafted.values()), default=-1) + 1

    def _remember(self, line: LiveLine, segment_id: str, entry: _Heard) -> None:
        self._lines[line.segment_id] = line
        self._heard.setdefault(line.source, {})[segment_id] = entry

    def _forget(self, before_s: float) -> None:
        for entries in self._heard.values():
            for segment_id in [id_ for id_, entry in entries.items() if entry.utterance.end < before_s]:
                for id_ in entries.pop(segment_id).lines:
                    del self._lines[id_]


def _in_order(entries: Mapping[str, _Heard]) -> tuple[Utterance, ...]:
    return tuple(sorted((entry.utterance for entry in entries.values()), key=lambda utterance: utterance.start))


def _is_of(part: Utterance, whole: Utterance) -> bool:
    return part.words[0] in whole.words if part.words else part == whole


def _covering(line: LiveLine, parts: Iterable[NamedUtterance]) -> NamedUtterance | None:
    length_s = max(line.segment.end - line.segment.start, SHORTEST_S)
    named_parts = (part for part in parts if part.name is not None)
    return next((part for part in named_parts if _shared_s(line, part) >= COVERED * length_s), None)


def _shared_s(line: LiveLine, part: NamedUtterance) -> float:
    # The length of the overlap; below zero, the distance between the two.
    segment, utterance = line.segment, part.utterance
    end = min(max(segment.end, segment.start + SHORTEST_S), max(utterance.end, utterance.start + SHORTEST_S))
    return end - max(segment.start, utterance.start)
