"""Who said what: turn the utterances of one or many sources into one transcript with speakers. Pure.

A *source* is what was transcribed: one person's track, or sound with several people in it. A *voice* is one speaker in
it. The site names a voice if it says whose track it is; otherwise the participants' speaking marks do, but only if they
are clear. Every segment has either a name or a list of candidates, which may be empty.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sederunt.model.events import screen_source, since_of
from sederunt.model.participant import Participant
from sederunt.model.transcript import NameGuess, Segment, Transcript, Utterance, Word
from sederunt.transcription import text
from sederunt.transcription.languages import primary_tag
from sederunt.transcripts.speaking_marks import (
    ENOUGH_S,
    LEAST_SHARE,
    Interval,
    MarkMatch,
    Marks,
    lag_s,
    marked,
    shifted,
    union,
)
from sederunt.transcripts.voices import (
    VoiceTurn,
    by_voice,
    longest_pause_s,
    named_voices,
    somebody_else,
    spoken_in,
    turns_of,
)

# A pause longer than this ends a segment, and cuts an utterance in two.
PAUSE_S = 1.0
# Beyond this length the next utterance begins a new segment: nobody reads an hour in one.
LONG_S = 60.0
# In mixed sound, a change of speaker shorter than this (words, seconds) counts as an error of the marks.
SHORT_WORDS, SHORT_S = 2, 0.6
# Marks of this many seconds suffice to name a stretch of mixed sound.
RUN_ENOUGH_S = 1.5
# A shared screen may play the presenter's talk of another day or somebody else's film.
SCREEN_CONFIDENCE = 0.5
# Sound and the news of its owner arrive this far apart: a track changes hands in the longest pause within.
HANDED_WITHIN_S = 0.25


class SourceSpan(Protocol):
    """A time in which one source of a mixed track was heard; `media.timeline` reads it from the packets."""

    @property
    def source(self) -> str: ...
    @property
    def track(self) -> str: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSpeech:
    """What was said in one source. Times are seconds from the start of the recording."""

    source: str
    utterances: Sequence[Utterance]
    mixed: bool = False  # several people may speak in it
    diarized: bool = False  # the words' `speaker` separates their voices


@dataclass(frozen=True, kw_only=True, slots=True)
class MeetingFacts:
    """What is known about the people in a meeting; nothing for a standalone recording."""

    duration_s: float
    started_ms: int = 0  # Unix milliseconds of the recording's zero
    participants: Sequence[Participant] = ()
    # Source → participant key, as the site says; for a source that changes hands also keyed by `events.source_since`.
    links: Mapping[str, str] = field(default_factory=dict)
    spans: Sequence[SourceSpan] = ()


def attribute(
    sources: Sequence[SourceSpeech], meeting: MeetingFacts, *, detected_lang: str | None = None
) -> Transcript:
    """Return one transcript of all sources, by time. `speaker` numbers voices from 0 in order of their first word."""
    names = {participant.key: participant.name for participant in meeting.participants}
    marks = _marks(sources, meeting)
    named_utterances: list[NamedUtterance] = []
    for speech in sources:
        utterances = [part for whole in speech.utterances for part in _usable(whole, meeting.duration_s)]
        named_utterances += _said(replace(speech, utterances=utterances), meeting, marks, names)
    named_utterances.sort(key=_by_time)
    numbers: dict[str, int] = {}
    for item in named_utterances:
        numbers.setdefault(item.voice, len(numbers))
    return Transcript(segments=_segments(named_utterances, numbers), detected_lang=detected_lang)


def in_language(utterances: Iterable[Utterance], lang: str | None) -> tuple[Utterance, ...]:
    """Return the utterances, with this language set on those without one; `lang` may be a longer tag, or None."""
    tag = primary_tag(lang)
    return tuple(each if each.lang is not None or tag is None else replace(each, lang=tag) for each in utterances)


@dataclass(frozen=True, slots=True)
class NamedUtterance:
    """An utterance with its voice: a participant's key, or our own key for an unnamed voice."""

    utterance: Utterance
    voice: str
    name: str | None
    guesses: tuple[NameGuess, ...] | None

    def segment(self, number: int) -> Segment:
        """Return a segment of this utterance alone, with this number for its voice."""
        return _segment([self], number)


def voices_in(speech: SourceSpeech, meeting: MeetingFacts, others: Iterable[SourceSpeech] = ()) -> list[NamedUtterance]:
    """Return who says what in one source, by time, as far as is known now; for growing transcripts.

    `others` holds what was said meanwhile in other sources; all of it determines the lag of the marks.
    """
    utterances = [part for whole in speech.utterances for part in _usable(whole, meeting.duration_s)]
    usable = replace(speech, utterances=utterances)
    names = {participant.key: participant.name for participant in meeting.participants}
    # Marks take time to compute; voices that the site names need none.
    is_named = all(key in names for key, _ in _by_owner(usable, meeting))
    marks = Marks({}) if is_named else _marks((*others, speech), meeting)
    return sorted(_said(usable, meeting, marks, names), key=_by_time)


def is_mixed(source: str, links: Mapping[str, str]) -> bool:
    """Return whether a source may hold anyone: a slot that the site gives to the current speaker, or its mix."""
    return source.startswith("track-") and source not in links


def _by_time(item: NamedUtterance) -> tuple[float, float]:
    return item.utterance.start, item.utterance.end


def _said(speech: SourceSpeech, meeting: MeetingFacts, marks: Marks, names: Mapping[str, str]) -> list[NamedUtterance]:
    named_utterances: list[NamedUtterance] = []
    for key, owned_speech in _by_owner(speech, meeting):
        if key in names:
            named_utterances += [
                NamedUtterance(utterance, key, names[key], None) for utterance in owned_speech.utterances
            ]
        else:
            named_utterances += _unowned(owned_speech, meeting, marks, names)
    return named_utterances


def _by_owner(speech: SourceSpeech, meeting: MeetingFacts) -> list[tuple[str, SourceSpeech]]:
    """Split a source into (participant key, their speech), as the site says; the key is empty where it says nothing."""
    if speech.mixed or speech.source not in meeting.links:
        return [("", speech)]
    handovers = _since(speech.source, meeting)
    if not handovers:
        return [(meeting.links[speech.source], speech)]
    # The times between words, before the first and after the last.
    intervals = spoken_in(speech.utterances)
    edges = [-math.inf, *(moment for interval in intervals for moment in interval), math.inf]
    pauses = list(zip(edges[::2], edges[1::2], strict=True))
    borders = sorted(_handed_over(at, pauses) for at, _ in handovers)
    keys = ["", *(key for _, key in handovers)]
    parts_by_owner: dict[str, list[Utterance]] = {}
    for utterance in speech.utterances:
        owners = [
            keys[bisect_right(borders, (piece.start + piece.end) / 2)] for piece in (utterance.words or (utterance,))
        ]
        for key, part in text.runs(utterance, owners):
            parts_by_owner.setdefault(owners[0] if key is None else key, []).append(part)
    # A page that names no owner may play its whole mix there.
    return [(key, replace(speech, utterances=parts, mixed=not key)) for key, parts in parts_by_owner.items()]


def _since(source: str, meeting: MeetingFacts) -> list[tuple[float, str]]:
    """Return (second of the recording, participant key) of a source's successive owners; often nothing."""
    candidates = ((since_of(name), key) for name, key in meeting.links.items())
    return sorted(
        ((since[1] - meeting.started_ms) / 1000, key) for since, key in candidates if since and since[0] == source
    )


def _handed_over(at: float, pauses: Sequence[Interval]) -> float:
    """Return when a track's sound changes hands, given the second `at` of the page's report.

    `pauses` are in order.
    """
    first_index = bisect_left(pauses, at - HANDED_WITHIN_S, key=lambda pause: pause[1])
    nearby_pauses = pauses[first_index : bisect_right(pauses, at + HANDED_WITHIN_S, key=lambda pause: pause[0])]
    candidates = [
        (end - start, -abs(min(max(at, start), end) - at), min(max(at, start), end)) for start, end in nearby_pauses
    ]
    return max(candidates)[2] if candidates else at


def _unowned(
    speech: SourceSpeech, meeting: MeetingFacts, marks: Marks, names: Mapping[str, str]
) -> list[NamedUtterance]:
    """Attribute speech whose speaker the site does not name."""
    spans = [span for span in meeting.spans if span.track == speech.source]
    if spans:
        return _by_spans(speech, spans, meeting.links, names, marks)
    if speech.diarized:
        return _by_voices(speech, marks, names)
    if speech.mixed:
        return [each for utterance in speech.utterances for each in _by_marks(utterance, speech.source, marks, names)]
    return _one_voice(speech.source, speech.utterances, meeting.links, marks, names)


def _one_voice(
    source: str, utterances: Sequence[Utterance], links: Mapping[str, str], marks: Marks, names: Mapping[str, str]
) -> list[NamedUtterance]:
    """Attribute an unnamed track: one person, judged by all they said; or the sound of a shared screen.

    A few seconds of marks do not assign it to somebody who has a track already: their mark may linger over another's
    words.
    """
    intervals = spoken_in(utterances)
    match = marks.match(intervals)
    key = match.sure(sum(end - start for start, end in intervals))
    if key is not None and (match.seconds[key] >= ENOUGH_S or key not in links.values()):
        return [NamedUtterance(utterance, key, names[key], None) for utterance in utterances]
    guesses = match.guesses(names)
    presenter = links.get(screen_source(source), "")
    if presenter in names and not guesses:
        guesses = (NameGuess(name=names[presenter], confidence=SCREEN_CONFIDENCE),)
    return [NamedUtterance(utterance, f"source {source}", None, guesses) for utterance in utterances]


def _by_voices(speech: SourceSpeech, marks: Marks, names: Mapping[str, str]) -> list[NamedUtterance]:
    """Name separated voices by the marks over all their speech, and the turns of uncertain voices one by one.

    The voice determines where a turn begins and ends; marks only say whose it is.
    """
    parts = by_voice(speech.utterances)
    intervals_by_voice = {number: spoken_in(own) for number, own in parts.items()}
    matches = {number: marks.match(own) for number, own in intervals_by_voice.items()}
    keys = named_voices(
        matches, {number: sum(end - start for start, end in own) for number, own in intervals_by_voice.items()}
    )
    turns = turns_of(parts)
    owners = marks.owners(sorted({(turn.start, turn.end) for turn in turns.values()}))
    named_utterances: list[NamedUtterance] = []
    for number, own in parts.items():
        voice, guesses = f"{speech.source} voice {number}", matches[number].guesses(names)
        for part in own:
            turn = turns[number, part.start]
            owner = owners.get((turn.start, turn.end))
            if (key := keys.get(number, owner)) is not None:
                named_utterances += _of_one(part, key, marks, names, turn if owner == key else None)
            elif len(guesses) < 2:
                named_utterances.append(NamedUtterance(part, voice, None, guesses))
            else:
                named_utterances += _by_marks(part, voice, marks, names)
    return named_utterances


def _of_one(
    part: Utterance, key: str, marks: Marks, names: Mapping[str, str], turn: VoiceTurn | None
) -> list[NamedUtterance]:
    """Name a voice's part, cut only where the marks are clearly another's: two similar speakers may be one voice.

    Args:
        turn: the part's turn, if the marks about it are this participant's alone. A neighbour's late or early marks
            reach into it: the speaker changed at the longer pause, at the edge of the turn or of the mark.
    """
    pieces = [(somebody_else(piece, key, marks) or key, piece) for _, piece in _split(part, marks)]
    if turn is not None and len(pieces) > 1:
        first_piece, last_piece = pieces[0][1], pieces[-1][1]
        if part.start == turn.start and longest_pause_s(part, first_piece.end) < turn.pause_before_s:
            pieces[0] = (key, first_piece)
        if part.end == turn.end and longest_pause_s(part, last_piece.start) < turn.pause_behind_s:
            pieces[-1] = (key, last_piece)
    if all(owner == key for owner, _ in pieces):
        pieces = [(key, part)]
    return [NamedUtterance(piece, owner, names[owner], None) for owner, piece in pieces]


def _by_spans(
    speech: SourceSpeech,
    spans: Sequence[SourceSpan],
    links: Mapping[str, str],
    names: Mapping[str, str],
    marks: Marks,
) -> list[NamedUtterance]:
    """Attribute mixed sound whose packets name its sources, exact to a few hundredths of a second."""
    intervals_by_source: dict[str, list[Interval]] = {}
    for span in spans:
        intervals_by_source.setdefault(span.source, []).append((span.start, span.end))
    intervals_by_source = {source: union(intervals) for source, intervals in intervals_by_source.items()}
    layers = Marks(intervals_by_source)
    by_source: dict[str, list[Utterance]] = {}
    for utterance in speech.utterances:
        for source, part in _split(utterance, layers):
            by_source.setdefault(source or speech.source, []).append(part)
    named_utterances = []
    for source, parts in by_source.items():
        key = links.get(source, "")
        if source == speech.source:  # its sources are unknown: a holder died before it recorded them
            named_utterances += [item for part in parts for item in _by_marks(part, source, marks, names)]
        elif key in names:
            named_utterances += [NamedUtterance(part, key, names[key], None) for part in parts]
        else:
            named_utterances += _one_voice(source, parts, links, marks, names)
    return named_utterances


def _by_marks(utterance: Utterance, source: str, marks: Marks, names: Mapping[str, str]) -> list[NamedUtterance]:
    """Attribute mixed sound by the site's marks alone, with a name where they are clear."""
    named_utterances = []
    for _, part in _split(utterance, marks):
        match = marks.match([(part.start, part.end)])
        key = match.sure(part.end - part.start, RUN_ENOUGH_S)
        if key is not None:
            named_utterances.append(NamedUtterance(part, key, names[key], None))
        else:
            named_utterances.append(
                NamedUtterance(part, _likeliest(match) or f"source {source}", None, match.guesses(names))
            )
    return named_utterances


def _likeliest(match: MarkMatch) -> str | None:
    """Return the voice of an unnamed stretch: the first candidate, if their share exceeds one half."""
    ranked = match.ranked()
    return ranked[0][0] if ranked and ranked[0][1] > 0.5 else None


def _split(utterance: Utterance, marks: Marks) -> list[tuple[str | None, Utterance]]:
    """Cut an utterance where another speaker takes over; the label is None if nobody is marked at all."""
    if not utterance.words:
        return [(_loudest(marks, utterance.start, utterance.end), utterance)]
    labels = [_loudest(marks, word.start, max(word.end, word.start + 0.02)) for word in utterance.words]
    return text.runs(utterance, _smoothed(labels, utterance.words))


def _loudest(marks: Marks, start: float, end: float) -> str | None:
    """Return who is marked during most of a word; None if nobody is, or several are equally."""
    weight = marks.match([(start, end)]).weight
    if not weight:
        return None
    best = max(weight.values())
    leaders = [key for key, value in weight.items() if value >= best * 0.999]
    return leaders[0] if len(leaders) == 1 else None


def _smoothed(labels: Sequence[str | None], words: Sequence[Word]) -> list[str | None]:
    """Give undecided words to their neighbours, and undo implausibly short changes."""
    known_labels = [label for label in labels if label is not None]
    if not known_labels:
        return list(labels)
    smoothed: list[str | None] = []
    last_label: str | None = known_labels[0]
    for label in labels:
        last_label = label or last_label
        smoothed.append(last_label)
    start = 0
    while start < len(smoothed):
        end = start
        while end < len(smoothed) and smoothed[end] == smoothed[start]:
            end += 1
        is_short = end - start < SHORT_WORDS and words[end - 1].end - words[start].start < SHORT_S
        if is_short and start > 0 and end < len(smoothed) and smoothed[start - 1] == smoothed[end]:
            smoothed[start:end] = [smoothed[end]] * (end - start)
        start = end
    return smoothed


def _marks(sources: Sequence[SourceSpeech], meeting: MeetingFacts) -> Marks:
    """Return the participants' marks, corrected by this meeting's lag."""
    unshifted = {
        participant.key: marked(participant, started_ms=meeting.started_ms, duration_s=meeting.duration_s)
        for participant in meeting.participants
    }
    intervals_by_voice: dict[str, list[Interval]] = {}
    for speech in sources:
        for voice, owned_speech in _by_owner(speech, meeting):
            intervals_by_voice.setdefault(voice, []).extend(spoken_in(owned_speech.utterances))
    voices = [
        spoken_in(owned_speech)
        for each in sources
        if each.diarized
        for owned_speech in by_voice(each.utterances).values()
    ]
    lag = lag_s(unshifted, intervals_by_voice, voices)
    return Marks({key: shifted(spans, -lag) for key, spans in unshifted.items()})


def _usable(utterance: Utterance, duration_s: float) -> list[Utterance]:
    """Return the utterance within the recording, cut at long pauses; nothing if it has no text."""
    if not utterance.transcript.strip():
        return []
    return text.cut_at_pauses(text.clamped(utterance, duration_s), PAUSE_S)


def _segments(named_utterances: Sequence[NamedUtterance], numbers: Mapping[str, int]) -> tuple[Segment, ...]:
    """Join adjacent utterances of one speaker into segments, unless a long pause separates them."""
    groups: list[list[NamedUtterance]] = []
    for item in named_utterances:
        if groups and _goes_on(groups[-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return tuple(_segment(group, numbers[group[0].voice]) for group in groups)


def _goes_on(group: Sequence[NamedUtterance], following: NamedUtterance) -> bool:
    is_same = group[0].voice == following.voice and group[0].name == following.name
    is_same = is_same and (
        following.utterance.lang is None or group[-1].utterance.lang in (None, following.utterance.lang)
    )
    end = max(item.utterance.end for item in group)
    return (
        is_same
        and following.utterance.start - end <= PAUSE_S
        and following.utterance.end - group[0].utterance.start <= LONG_S
    )


def _segment(group: Sequence[NamedUtterance], number: int) -> Segment:
    utterances = tuple(item.utterance.spoken_by(number) for item in group)
    weights = [max(1, len(utterance.words)) for utterance in utterances]
    confidence = sum(
        utterance.confidence * weight for utterance, weight in zip(utterances, weights, strict=True)
    ) / sum(weights)
    return Segment(
        start=min(utterance.start for utterance in utterances),
        end=max(utterance.end for utterance in utterances),
        speaker=number,
        confidence=round(confidence, 4),
        transcript=text.join(utterance.transcript for utterance in utterances),
        utterances=utterances,
        speaker_name=group[0].name,
        potential_speaker_names=None if group[0].name is not None else _pooled(group),
    )


def _pooled(group: Sequence[NamedUtterance]) -> tuple[NameGuess, ...]:
    """Return the candidates of one voice's utterances, by their mean share of the time."""
    total = sum(max(0.01, item.utterance.end - item.utterance.start) for item in group)
    shares: dict[str, float] = {}
    for item in group:
        length = max(0.01, item.utterance.end - item.utterance.start)
        for guess in item.guesses or ():
            shares[guess.name] = shares.get(guess.name, 0.0) + guess.confidence * length / total
    ranked = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(
        NameGuess(name=name, confidence=round(min(1.0, share), 4)) for name, share in ranked if share >= LEAST_SHARE
    )
