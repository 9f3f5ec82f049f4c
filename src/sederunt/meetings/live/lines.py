"""What is said live, written down: each final segment with its voice, the voice's number, and its name. Pure.

A name may not be known when a segment is final: whose source it is, or who was marked as speaking, may be told a
moment later. Such a line is told anew once its name is known. A voice keeps its number for the bot's whole life.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sederunt.model.transcript import LiveLine, Utterance
from sederunt.transcription.live import LiveSegment
from sederunt.transcription.profanity import mask_utterances
from sederunt.transcription.text import runs
from sederunt.transcripts.attribution import MeetingFacts, NamedUtterance, SourceSpeech, is_mixed, voices_in

# What was said so lately helps to tell voices apart, and may still get its name.
RECENT_S = 120.0


@dataclass(frozen=True, slots=True)
class _Heard:
    """One segment of a source, and the lines it became."""

    utterance: Utterance
    lines: tuple[str, ...]


class LiveLines:
    """The lines of one bot.

    Args:
        kept: what earlier holders and pages wrote down.
        mask_lang: the language whose profanity is masked, "" for one that is not known; None: nothing is masked.
    """

    def __init__(self, kept: Iterable[LiveLine] = (), *, mask_lang: str | None = None) -> None:
        self._mask_lang = mask_lang
        self._numbers: dict[str, int] = {}
        self._lines: dict[str, LiveLine] = {}
        self._heard: dict[str, dict[str, _Heard]] = {}  # source → segment id → what was said
        for line in kept:
            self._numbers.setdefault(line.voice, line.segment.speaker)
            self._remember(line, line.segment_id, line.segment.utterances[0], (line.segment_id,))

    def final(self, said: LiveSegment, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of a final segment: several where people share it. The first has the segment's id."""
        known = self._heard.get(said.source, {}).get(said.segment_id)
        utterance = self._utterance(said)
        if known is not None:
            return self._revised(known, utterance)
        self._forget(said.end - RECENT_S)
        parts = self._parts(said, utterance, meeting)
        ids = tuple(said.segment_id if n == 0 else f"{said.segment_id}.{n + 1}" for n in range(len(parts)))
        lines = [
            LiveLine(
                segment_id=id_,
                revision=0,
                source=said.source,
                voice=part.voice,
                segment=part.segment(self._numbers.setdefault(part.voice, self._next_number())),
            )
            for id_, part in zip(ids, parts, strict=True)
        ]
        for line in lines:
            self._remember(line, said.segment_id, utterance, ids)
        return lines

    @property
    def lacks_names(self) -> bool:
        """Return whether a recent line has no name yet."""
        return any(line.segment.speaker_name is None for line in self._lines.values())

    def renamed(self, meeting: MeetingFacts) -> list[LiveLine]:
        """Return the lines of recent segments that had no name and have one now."""
        lines = []
        for source, heard in self._heard.items():
            unnamed = [
                self._lines[id_]
                for each in heard.values()
                for id_ in each.lines
                if self._lines[id_].segment.speaker_name is None
            ]
            if unnamed:
                found = {part.utterance.start: part for part in self._voices(source, meeting, {}) if part.name}
                lines += [
                    self._named(line, found[line.segment.start]) for line in unnamed if line.segment.start in found
                ]
        return lines

    def draft(self, said: LiveSegment, meeting: MeetingFacts) -> Mapping[str, object]:
        """Return the data of a `ts-draft`: what listeners are told of a segment that is still being said."""
        utterance = self._utterance(said)
        parts = self._parts(said, utterance, meeting)
        voice, name = (parts[-1].voice, parts[-1].name) if parts else ("", None)
        return {
            "segment_id": said.segment_id,
            "transcript": utterance.transcript,
            "start": said.start,
            "end": said.end,
            "speaker": self._numbers.get(voice, self._next_number()),
            "speaker_name": name,
        }

    def _utterance(self, said: LiveSegment) -> Utterance:
        label = said.label or 0
        utterance = Utterance(
            start=said.start,
            end=said.end,
            speaker=label,
            confidence=round(said.confidence, 4),
            transcript=said.transcript.strip(),
            words=tuple(replace(word, speaker=label) for word in said.words),
        )
        return utterance if self._mask_lang is None else mask_utterances((utterance,), self._mask_lang)[0]

    def _parts(self, said: LiveSegment, utterance: Utterance, meeting: MeetingFacts) -> list[NamedUtterance]:
        """Return who says what in this segment. Its words may begin a little before it does."""
        voices = self._voices(said.source, meeting, {said.segment_id: utterance}, diarized=said.label is not None)
        first_s = min([said.start, *(word.start for word in utterance.words)])
        return [part for part in voices if first_s <= part.utterance.start <= said.end]

    def _voices(
        self, source: str, meeting: MeetingFacts, new: Mapping[str, Utterance], *, diarized: bool = False
    ) -> list[NamedUtterance]:
        """Return who says what in a source, of late."""
        mixed = is_mixed(source, meeting.links)
        speech = SourceSpeech(
            source=source, utterances=self._utterances(source, new), mixed=mixed, diarized=diarized and mixed
        )
        others = (
            SourceSpeech(source=other, utterances=self._utterances(other, {}), mixed=is_mixed(other, meeting.links))
            for other in self._heard
            if other != source
        )
        return voices_in(speech, meeting, others)

    def _utterances(self, source: str, new: Mapping[str, Utterance]) -> tuple[Utterance, ...]:
        heard = {id_: each.utterance for id_, each in self._heard.get(source, {}).items()}
        return tuple(sorted({**heard, **new}.values(), key=lambda utterance: utterance.start))

    def _revised(self, known: _Heard, utterance: Utterance) -> list[LiveLine]:
        """Return told lines with new words, cut where the lines were, so that each keeps its voice."""
        lines = [self._lines[id_] for id_ in known.lines]
        borders = [line.segment.start for line in lines[1:]]
        places = [bisect_right(borders, word.start) for word in utterance.words]
        parts = runs(utterance, places) if borders else [(0, utterance)]
        told = []
        for place, part in parts:
            line = lines[place or 0]
            number = line.segment.speaker
            segment = NamedUtterance(
                part, line.voice, line.segment.speaker_name, line.segment.potential_speaker_names
            ).segment(number)
            told.append(replace(line, revision=line.revision + 1, segment=segment))
        for line in told:
            self._lines[line.segment_id] = line
        return told

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

    def _next_number(self) -> int:
        return max(self._numbers.values(), default=-1) + 1

    def _remember(self, line: LiveLine, segment_id: str, utterance: Utterance, ids: tuple[str, ...]) -> None:
        self._lines[line.segment_id] = line
        self._heard.setdefault(line.source, {})[segment_id] = _Heard(utterance, ids)

    def _forget(self, before_s: float) -> None:
        for heard in self._heard.values():
            for segment_id in [id_ for id_, each in heard.items() if each.utterance.end < before_s]:
                for id_ in heard.pop(segment_id).lines:
                    del self._lines[id_]
