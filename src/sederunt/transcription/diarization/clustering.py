"""Which stretches are one person's, by their voices. Pure.

Average linkage over the stretches that were heard well, from the most alike pair on, until nothing is alike enough;
short ones that are like none of these make up voices together; then every other stretch joins the voice it is nearest
to, or is a voice of its own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sederunt.transcription.diarization.voice_stretches import Vector, VoiceStretch, unit

# Cosines. At 3 s, two stretches of one person have 0.71 in the middle, of two people 0.03 (99 of 100 below 0.46).
ALIKE = 0.40
# By telephone, two people have 0.35 in the middle (99 of 100 below 0.54), and one 0.66: so much higher is the bar.
NARROW = 0.15
# A stretch heard for less (seconds) says too little to found a voice while there are others.
WELL_HEARD_S = 1.2
# So many that are less alike than the second to everybody, and so much alike each other, found one if they are that
# long together: there are people who say nothing but short sentences. Short sound varies, so less is asked of it.
SEVERAL, STRANGE, TOGETHER = 3, 0.36, 0.3
# One by itself is somebody new if it is less alike to everybody, and was heard for so long.
STRANGER, STRANGER_S = 0.28, 0.8
# What going on in the same thread adds, if it was so few seconds ago.
SAME_THREAD, RECENT_S = 0.12, 10.0
# Who speaks until, or from, so near to the moment when two speak at once is one of them.
BESIDE_S = 0.3
# More stretches than this are linked a part at a time: the table of likenesses grows with the square.
MOST_LINKED = 1500

Labels = list[tuple[int, ...]]


def clustered(stretches: Sequence[VoiceStretch]) -> Labels:
    """Return a number for each person who speaks in a stretch; the same number is the same person."""
    single: list[int | None] = [None] * len(stretches)
    bar = narrow_bar(stretches)
    groups = _founded(stretches, ALIKE + bar)
    groups += _founded_together(stretches, groups, bar)
    for number, members in enumerate(groups):
        for member in members:
            single[member] = number
    centres = [_centre([stretches[n] for n in members]) for members in groups]
    unassigned = [n for n, stretch in enumerate(stretches) if stretch.voice is not None and single[n] is None]
    for n in sorted(unassigned, key=lambda n: -stretches[n].heard_s):
        single[n] = _nearest(stretches, n, single, centres, STRANGER + bar)
    return [who or (0,) for who in completed(stretches, single)]


def completed(stretches: Sequence[VoiceStretch], single: Sequence[int | None]) -> Labels:
    """Return who speaks in each stretch, where it is known of stretches that were heard: those too short to be heard,
    and two at once, by what is around them. Nobody where nothing is."""
    labels = list(single)
    for n, stretch in enumerate(stretches):
        if labels[n] is None and len(stretch.threads) == 1:
            labels[n] = _neighbour(stretches, n, labels)
    return [
        _both(stretches, n, labels) if len(stretch.threads) > 1 else () if label is None else (label,)
        for n, (stretch, label) in enumerate(zip(stretches, labels, strict=True))
    ]


def narrow_bar(stretches: Sequence[VoiceStretch]) -> float:
    """Return by how much more alike voices have to be, where most of them came by telephone."""
    narrow_flags = [stretch.narrow for stretch in stretches if stretch.voice is not None]
    return NARROW if 2 * sum(narrow_flags) > len(narrow_flags) else 0.0


def _founded(stretches: Sequence[VoiceStretch], threshold: float) -> list[list[int]]:
    """Return the groups that well heard stretches make up; with hardly any, all that were heard at all."""
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
    """Return the further groups that short stretches make up which are like nobody in `groups`."""
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
    """Group rows by average linkage, merged from the most alike on while they are at least so alike on average."""
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
    stretches: Sequence[VoiceStretch], n: int, single: Sequence[int | None], centres: list[Vector], stranger: float
) -> int:
    """Whose a stretch is by its voice; a new one is added to `centres` where it is nobody's."""
    voice = _voice(stretches[n])
    scores = np.array([float(voice @ centre) for centre in centres])
    for neighbour in _same_thread(stretches, n, single):
        scores[single[neighbour]] += SAME_THREAD
        break
    if not centres or (stretches[n].heard_s >= STRANGER_S and float(scores.max()) < stranger):
        centres.append(voice)
        return len(centres) - 1
    return int(scores.argmax())


def _neighbour(stretches: Sequence[VoiceStretch], n: int, single: Sequence[int | None]) -> int | None:
    """Whose a stretch is that was too short to be heard: whoever was last or is next in its thread, or at all."""
    for neighbour in (*_same_thread(stretches, n, single), *_around(stretches, n, single)):
        return single[neighbour]
    return None


def _both(stretches: Sequence[VoiceStretch], n: int, single: Sequence[int | None]) -> tuple[int, ...]:
    """Who the two are that speak at once: whoever speaks before and whoever after, or goes on in the threads."""
    beside = [
        at for at in (n - 1, n + 1) if 0 <= at < len(stretches) and _apart(stretches[at], stretches[n]) < BESIDE_S
    ]
    nearby = _around(stretches, n, single)
    recent = [at for at in nearby if _apart(stretches[at], stretches[n]) <= RECENT_S]
    going_on = [
        next((at for at in recent if stretches[at].threads == (thread,)), None) for thread in stretches[n].threads
    ]
    candidates = (single[at] for at in (*beside, *going_on, *nearby) if at is not None)
    return tuple(dict.fromkeys(label for label in candidates if label is not None))[:2]


def _same_thread(stretches: Sequence[VoiceStretch], n: int, single: Sequence[int | None]) -> list[int]:
    nearby = (o for o in _around(stretches, n, single) if stretches[o].threads == stretches[n].threads)
    return [o for o in nearby if _apart(stretches[o], stretches[n]) <= RECENT_S]


def _around(stretches: Sequence[VoiceStretch], n: int, single: Sequence[int | None], reach: int = 12) -> list[int]:
    """Stretches of one known person near this one, the nearest in time first."""
    nearby = [o for o in range(max(0, n - reach), min(len(stretches), n + reach + 1)) if o != n]
    return sorted((o for o in nearby if single[o] is not None), key=lambda o: _apart(stretches[o], stretches[n]))


def _apart(first: VoiceStretch, second: VoiceStretch) -> float:
    return max(0.0, first.start - second.end, second.start - first.end)
