"""Name the voices that a model or a vendor separated in mixed sound, by the speaking marks. Pure.

Voices show exactly when somebody else begins, but no names; marks carry names, but come late and miss short turns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from sederunt.model.transcript import Utterance
from sederunt.transcription import text
from sederunt.transcripts.speaking_marks import Interval, MarkMatch, Marks, union

# Somebody else's marks override the name of a whole voice if they alone cover this share of a part of at least this
# length: two people who sound alike were taken for one voice.
AGAINST_SHARE, AGAINST_S = 0.7, 1.0
# How far around the edge of a mark a change of speaker is looked for.
PAUSE_NEAR_S = 0.5
# A voice shared by two goes to the one without a name yet, given this share of its marks.
REST_SHARE = 0.35


def by_voice(utterances: Iterable[Utterance]) -> dict[int, list[Utterance]]:
    """Cut utterances where the voice of their words changes, and group the parts by voice number."""
    voices: dict[int, list[Utterance]] = {}
    for utterance in utterances:
        for number, part in text.runs(utterance, [word.speaker for word in utterance.words]):
            voices.setdefault(utterance.speaker if number is None else number, []).append(part)
    return voices


def spoken_in(utterances: Iterable[Utterance]) -> list[Interval]:
    """Return the intervals of the words."""
    return union((item.start, item.end) for utterance in utterances for item in (utterance.words or (utterance,)))


@dataclass(frozen=True, slots=True)
class VoiceTurn:
    """One voice's speech until another begins, pauses included."""

    start: float
    end: float
    pause_before_s: float
    pause_behind_s: float


def longest_pause_s(part: Utterance, at: float) -> float:
    """Return the longest pause between two words near a moment."""
    pauses = (
        next_word.start - word.end
        for word, next_word in pairwise(part.words)
        if abs((word.end + next_word.start) / 2 - at) <= PAUSE_NEAR_S
    )
    return max(pauses, default=0.0)


def turns_of(parts: Mapping[int, Iterable[Utterance]]) -> dict[tuple[int, float], VoiceTurn]:
    """Return the turn of each part, by the part's voice and start."""
    edges: list[Interval] = []
    places: dict[tuple[int, float], int] = {}
    last_number: int | None = None
    for start, end, number in sorted(
        (part.start, part.end, number) for number, voice_parts in parts.items() for part in voice_parts
    ):
        if number == last_number:
            edges[-1] = (edges[-1][0], max(edges[-1][1], end))
        else:
            edges.append((start, end))
        last_number = number
        places[number, start] = len(edges) - 1
    pauses = [inf, *(following[0] - previous[1] for previous, following in pairwise(edges)), inf]
    turns = [VoiceTurn(*edge, *around) for edge, around in zip(edges, pairwise(pauses), strict=False)]
    return {part: turns[place] for part, place in places.items()}


def named_voices(matches: Mapping[int, MarkMatch], totals_s: Mapping[int, float]) -> dict[int, str]:
    """Name voices (voice → participant) if the marks are clear about all their speech.

    The best proven voice is named first. If a voice is between two participants and one of them has a voice already,
    the other gets it with REST_SHARE of its marks. One participant may have two voices: a split voice, or a guest
    beside them.
    """
    names: dict[int, str] = {}
    numbers = sorted(matches, key=lambda number: -max(matches[number].seconds.values(), default=0.0))
    for number in numbers:
        if (key := matches[number].sure(totals_s[number])) is not None:
            names[number] = key
    for number in numbers:
        if number not in names:
            remaining_match = matches[number].without(set(names.values()))
            key = remaining_match.sure(totals_s[number] * REST_SHARE)
            if key is not None and remaining_match.weight[key] >= REST_SHARE * sum(matches[number].weight.values()):
                names[number] = key
    return names


def somebody_else(part: Utterance, key: str, marks: Marks) -> str | None:
    """Return who else is marked alone during a part of a voice that is `key`'s as a whole; None if nobody is."""
    length_s = part.end - part.start
    if length_s < AGAINST_S:
        return None
    match = marks.match([(part.start, part.end)])
    other_key = match.sure(length_s)
    return (
        other_key
        if other_key != key and other_key is not None and match.seconds[other_key] >= AGAINST_SHARE * length_s
        else None
    )
