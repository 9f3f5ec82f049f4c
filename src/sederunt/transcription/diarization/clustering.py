"""Which stretches belong to the same person, by their voices. Pure.

The well-heard stretches are merged by average linkage, the most alike pair first, until nothing is alike enough. Then
short stretches that resemble none of these groups form groups among themselves. Every other stretch joins the nearest
voice, or becomes a voice of its own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.voice_stretches import Vector, VoiceStretch, unit

# Cosines. At 3 s, the median for two stretches of one person is 0.71, of two people 0.03 (99 of 100 below 0.46).
ALIKE = 0.40
# Added to the thresholds by telephone, where two people have a median of 0.35 (99 of 100 below 0.54), and one 0.66.
NARROW = 0.15
# A stretch heard for fewer seconds tells too little to found a voice while there are longer ones.
WELL_HEARD_S = 1.2
# SEVERAL short stretches found a voice if each is less alike than STRANGE to everybody, they are TOGETHER alike, and
# they last WELL_HEARD_S in all: some people say only short sentences. Short sound varies, so the bar is lower.
SEVERAL, STRANGE, TOGETHER = 3, 0.36, 0.3
# A single stretch is somebody new if it is less alike than STRANGER to everybody, and was heard for STRANGER_S.
STRANGER, STRANGER_S = 0.28, 0.8
# Likeness added to a voice that was in the same thread at most RECENT_S seconds ago.
SAME_THREAD, RECENT_S = 0.12, 10.0
# Somebody who speaks this close to a moment when two speak at once is one of the two.
BESIDE_S = 0.3
# More stretches than this are linked in parts: the table of likenesses grows quadratically.
MOST_LINKED = 1500

Labels = list[tuple[int, ...]]


def clustered(stretches: Sequence[VoiceStretch]) -> Labels:
    """Return, for each stretch, the numbers of the people who speak in it; equal numbers are the same person."""
    single_labels: list[int | None] = [None] * len(stretches)
    bar = narrow_bar(stretches)
    groups = _founded(stretches, ALIKE + bar)
    groups += _founded_together(stretches, groups, bar)
    for number, members in enumerate(groups):
        for member in members:
            single_labels[member] = number
    centres = [_centre([stretches[n] for n in members]) for members in groups]
    unassigned = [n for n, stretch in enumerate(stretches) if stretch.voice is not None and single_labels[n] is None]
    for n in sorted(unassigned, key=lambda n: -stretches[n].heard_s):
        single_labels[n] = _nearest(stretches, n, single_labels, centres, STRANGER + bar)
    return [labels or (0,) for labels in completed(stretches, single_labels)]


def completed(stretches: Sequence[VoiceStretch], single_labels: Sequence[int | None]) -> Labels:
    """Return who speaks in each stretch, given the speakers of stretches that were heard.

    Stretches too short to be heard, and those of two people, are judged by their surroundings; without any, the
    result is empty."""
    labels = list(single_labels)
    for n, stretch in enumerate(stretches):
        if labels[n] is None and len(stretch.threads) == 1:
            labels[n] = _neighbour(stretches, n, labels)
    return [
        _both(stretches, n, labels) if len(stretch.threads) > 1 else () if label is None else (label,)
        for n, (stretch, label) in enumerate(zip(stretches, labels, strict=True))
    ]


def narrow_bar(stretches: Sequence[VoiceStretch]) -> float:
    """Return how much more alike voices must be: NARROW where most of them came by telephone, else 0."""
    narrow_flags = [stretch.narrow for stretch in stretches if stretch.voice is not None]
    return NARROW if 2 * sum(narrow_flags) > len(narrow_flags) else 0.0


def _founded(stretches: Sequence[VoiceStretch], threshold: float) -> list[list[int]]:
    """Group the well-heard stretches; if there are none, all that were heard at all."""
    indices = [
        n for n, stretch in enumerate(stretches) if stretch.voice is not None and stretch.heard_s >= WELL_HEARD_S
    ]
    indices = indices or [n for n, stretch in enumerate(stretches) if stretch.voice is not None]
    parts = [indices[at : at + MOST_LINKED] for at in range(0, len(indices), MOST_LINKED)]
    groups = [group for part in parts for group in _grouped(stretches, part, threshold)]
    if len(parts) > 1:
        centres = np.stack([_centre([stretches[n] for n in members]) for members in groups])
        linked_groups = linked(centres @ centres.T, threshold)
        groups = [[n for place in places for n in groups[place]] for places in linked_groups]
    return groups


def _founded_together(stretches: Sequence[VoiceStretch], groups: list[list[int]], bar: float) -> list[list[int]]:
    """Group the short stretches that are like nobody in `groups`."""
    grouped = {n for members in groups for n in members}
    ungrouped = [n for n, stretch in enumerate(stretches) if stretch.voice is not None and n not in grouped]
    if not ungrouped:
        return []
    centres = np.stack([_centre([stretches[n] for n in members]) for members in groups])
    strangers = [n for n in ungrouped if float((centres @ _voice(stretches[n])).max()) < STRANGE + bar]
    new_groups = _grouped(stretches, strangers, TOGETHER + bar) if strangers else []
    large_groups = [group for group in new_groups if len(group) >= SEVERAL]
    return [group for group in large_groups if sum(stretches[n].heard_s for n in group) >= WELL_HEARD_S]


def _grouped(stretches: Sequence[VoiceStretch], indices: Sequence[int], threshold: float) -> list[list[int]]:
    vectors = np.stack([_voice(stretches[n]) for n in indices])
    return [[indices[place] for place in places] for places in linked(vectors @ vectors.T, threshold)]


def linked(likeness: NDArray[np.float32], threshold: float) -> list[list[int]]:
    """Group rows by average linkage, the most alike first, while their average likeness reaches the threshold."""
    table = likeness.astype(np.float64)
    np.fill_diagonal(table, -np.inf)
    members = [[n] for n in range(len(table))]
    rows = np.arange(len(table))
    best = table.argmax(axis=1)
    top = table[rows, best]
    while float(top.max()) >= threshold:
        first = int(top.argmax())
        second = int(best[first])
        sizes = len(members[first]), len(members[second])
        merged_row = (table[first] * sizes[0] + table[second] * sizes[1]) / sum(sizes)
        merged_row[[first, second]] = -np.inf
        table[first], table[:, first] = merged_row, merged_row
        table[second], table[:, second] = -np.inf, -np.inf
        members[first] += members[second]
        members[second] = []
        for row in np.flatnonzero((best == first) | (best == second) | (table[:, first] > top) | (rows == first)):
            best[row] = table[row].argmax()
            top[row] = table[row, best[row]]
        top[second] = -np.inf
    return [group for group in members if group]


def _centre(members: Sequence[VoiceStretch]) -> Vector:
    return unit(np.sum([_voice(stretch) * np.float32(stretch.heard_s) for stretch in members], axis=0))


def _voice(stretch: VoiceStretch) -> Vector:
    assert stretch.voice is not None
    return stretch.voice


def _nearest(
    stretches: Sequence[VoiceStretch],
    n: int,
    single_labels: Sequence[int | None],
    centres: list[Vector],
    stranger: float,
) -> int:
    """Return the voice that a stretch is nearest to; if it is nobody's, a new one is added to `centres`."""
    voice = _voice(stretches[n])
    scores = np.array([float(voice @ centre) for centre in centres])
    for neighbour in _same_thread(stretches, n, single_labels):
        scores[single_labels[neighbour]] += SAME_THREAD
        break
    if not centres or (stretches[n].heard_s >= STRANGER_S and float(scores.max()) < stranger):
        centres.append(voice)
        return len(centres) - 1
    return int(scores.argmax())


def _neighbour(stretches: Sequence[VoiceStretch], n: int, single_labels: Sequence[int | None]) -> int | None:
    """Return the nearest speaker in the same thread, or else in any, for a stretch too short to be heard."""
    for neighbour in (*_same_thread(stretches, n, single_labels), *_around(stretches, n, single_labels)):
        return single_labels[neighbour]
    return None


def _both(stretches: Sequence[VoiceStretch], n: int, single_labels: Sequence[int | None]) -> tuple[int, ...]:
    """Return the two who speak at once: those who speak just before and after, or else in the same threads."""
    adjacent = [
        index
        for index in (n - 1, n + 1)
        if 0 <= index < len(stretches) and _apart(stretches[index], stretches[n]) < BESIDE_S
    ]
    nearby = _around(stretches, n, single_labels)
    recent = [index for index in nearby if _apart(stretches[index], stretches[n]) <= RECENT_S]
    same_threads = [
        next((index for index in recent if stretches[index].threads == (thread,)), None)
        for thread in stretches[n].threads
    ]
    candidates = (single_labels[index] for index in (*adjacent, *same_threads, *nearby) if index is not None)
    return tuple(dict.fromkeys(label for label in candidates if label is not None))[:2]


def _same_thread(stretches: Sequence[VoiceStretch], n: int, single_labels: Sequence[int | None]) -> list[int]:
    nearby = (
        index for index in _around(stretches, n, single_labels) if stretches[index].threads == stretches[n].threads
    )
    return [index for index in nearby if _apart(stretches[index], stretches[n]) <= RECENT_S]


def _around(
    stretches: Sequence[VoiceStretch], n: int, single_labels: Sequence[int | None], reach: int = 12
) -> list[int]:
    """Return nearby stretches of one known person, the nearest in time first."""
    nearby = [index for index in range(max(0, n - reach), min(len(stretches), n + reach + 1)) if index != n]
    return sorted(
        (index for index in nearby if single_labels[index] is not None),
        key=lambda index: _apart(stretches[index], stretches[n]),
    )


def _apart(first: VoiceStretch, second: VoiceStretch) -> float:
    return max(0.0, first.start - second.end, second.start - first.end)
