"""Plan which sound goes into which file for a vendor, and map the file's seconds back to the recording's. Pure.

If a vendor limits the length, sound is cut into several files where it is quiet. To tell voices apart, each file
begins a little before the cut, so that consecutive files share some speech. Tracks of single participants are joined
into one file without their silence: only speech is billed.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sederunt.model.transcript import Utterance
from sederunt.transcription.line import linked
from sederunt.transcription.text import runs

Levels = npt.NDArray[np.float32]  # loudness of each STEP_S of a source

STEP_S = 0.05
# Quieter sound is silence: -56 dB below full scale, well under speech at the far end of a room.
SILENT = 0.0016
PAD_S = 0.3  # kept around speech
SHORTEST_GAP_S = 2.0  # a shorter silence is kept
BETWEEN_S = 1.0  # silence between two pieces of a file
LOOK_BACK_S = 120.0  # a file is cut at the quietest place within this time before the limit
OVERLAP_S = 60.0  # shared by consecutive files if voices have to be linked
QUIET_FOR_S = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of one source, in a file. Seconds."""

    source: int  # which of the task's sources
    start: float  # in the source
    end: float
    at: float = 0.0  # in the file


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedFile:
    """The content of one file for the vendor. Utterances before `counts_from` belong to the file before."""

    pieces: tuple[Piece, ...]
    counts_from: float = 0.0  # in the source; for files with one piece
    counts_to: float = float("inf")

    @property
    def duration_s(self) -> float:
        return max((piece.at + piece.end - piece.start for piece in self.pieces), default=0.0)


def whole(duration_s: float, levels: Levels | None, most_s: float | None, *, linked_voices: bool) -> list[PlannedFile]:
    """Plan one source in as few files as a vendor's limit allows. `levels` are needed only if it has to be cut."""
    if most_s is None or duration_s <= most_s:
        return [PlannedFile(pieces=(Piece(source=0, start=0.0, end=duration_s),))]
    assert levels is not None
    # At most a third of a small limit each, so that every file reaches beyond the one before it.
    overlap_s = min(OVERLAP_S, most_s / 3) if linked_voices else 0.0
    look_back_s = min(LOOK_BACK_S, most_s / 3)
    cuts, start = [0.0], 0.0
    while duration_s - start > most_s:
        cut = _quiet(levels, start + most_s - look_back_s, start + most_s)
        cuts.append(cut)
        start = cut - overlap_s
    files = []
    for n, cut in enumerate(cuts):
        end = cuts[n + 1] if n + 1 < len(cuts) else duration_s
        begin = max(0.0, cut - overlap_s) if n else 0.0
        is_last = n + 1 == len(cuts)
        piece = Piece(source=0, start=begin, end=end)
        files.append(PlannedFile(pieces=(piece,), counts_from=cut, counts_to=float("inf") if is_last else end))
    return files


def joined_tracks(levels: Sequence[Levels], most_s: float | None) -> list[PlannedFile]:
    """Plan the speech of several sources, one after the other, in as few files as the limit allows."""
    files: list[list[Piece]] = [[]]
    file_s = 0.0
    for source, loud in enumerate(levels):
        for start, end in speech(loud):
            for begin, finish in _portions(start, end, most_s):
                length = finish - begin
                if most_s is not None and files[-1] and file_s + length > most_s:
                    files.append([])
                    file_s = 0.0
                files[-1].append(Piece(source=source, start=begin, end=finish, at=file_s))
                file_s += length + BETWEEN_S
    return [PlannedFile(pieces=tuple(pieces)) for pieces in files if pieces]


def speech(levels: Levels) -> list[tuple[float, float]]:
    """Return the stretches of a source with sound, padded; those with little between them are merged."""
    loud = np.flatnonzero(levels > SILENT)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) * STEP_S > SHORTEST_GAP_S)
    firsts, lasts = loud[np.r_[0, breaks + 1]], loud[np.r_[breaks, len(loud) - 1]]
    end_s = len(levels) * STEP_S
    return [
        (max(0.0, first * STEP_S - PAD_S), min(end_s, (last + 1) * STEP_S + PAD_S))
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


def returned(file: PlannedFile, utterances: Iterable[Utterance]) -> dict[int, list[Utterance]]:
    """Return a file's utterances by source, in the source's seconds: split by piece, without the overlap."""
    by_source: dict[int, list[Utterance]] = {}
    for utterance in utterances:
        for piece, part in _by_piece(file, utterance):
            shifted_part = _shifted(part, piece)
            for counted_part in _counted(file, shifted_part):
                by_source.setdefault(piece.source, []).append(counted_part)
    return by_source


def relabelled(
    earlier: Sequence[Utterance], later: Sequence[Utterance], overlap: Sequence[Utterance]
) -> list[Utterance]:
    """Return a later file's utterances with the voice numbers of the files before, matched by simultaneous speech in
    the overlap.

    Args:
        earlier: of all files before, with the recording's numbers.
        later: of this file, with the vendor's numbers.
        overlap: the same, including those that the file before answers for.
    """
    earlier_spans = [(each.start, each.end, each.speaker) for each in earlier]
    overlap_spans = [(each.start, each.end, str(each.speaker)) for each in overlap]
    linked_numbers = linked(earlier_spans, overlap_spans)
    next_number = max((each.speaker for each in earlier), default=-1) + 1
    numbers: dict[int, int] = {}
    for each in later:
        if each.speaker not in numbers:
            number = linked_numbers.get(str(each.speaker))
            numbers[each.speaker] = next_number if number is None else number
            next_number += number is None
    return [each.spoken_by(numbers[each.speaker]) for each in later]


def _by_piece(file: PlannedFile, utterance: Utterance) -> list[tuple[Piece, Utterance]]:
    if len(file.pieces) == 1 or not utterance.words:
        return [(file.pieces[_place(file, utterance.start, utterance.end)], utterance)]
    labels = [_place(file, word.start, word.end) for word in utterance.words]
    return [(file.pieces[0 if label is None else label], part) for label, part in runs(utterance, labels)]


def _place(file: PlannedFile, start: float, end: float) -> int:
    """Return the index of the piece with the middle of a word; in the silence between two pieces, of the later one:
    vendors' words begin too early rather than end too late."""
    middle = (start + end) / 2
    ends = [piece.at + piece.end - piece.start for piece in file.pieces]
    return min(bisect_right(ends, middle), len(ends) - 1)


def _counted(file: PlannedFile, utterance: Utterance) -> list[Utterance]:
    """Return the part of an utterance that this file answers for."""
    begin, end = file.counts_from, file.counts_to
    if not utterance.words:
        return [utterance] if begin <= (utterance.start + utterance.end) / 2 < end else []
    inside = [begin <= (word.start + word.end) / 2 < end for word in utterance.words]
    if all(inside):
        return [utterance]
    return [part for is_inside, part in runs(utterance, inside) if is_inside]


def _shifted(utterance: Utterance, piece: Piece) -> Utterance:
    """Return an utterance in the source's seconds, clamped to the piece."""

    def moved(file_s: float) -> float:
        return round(min(piece.end, max(piece.start, file_s + piece.start - piece.at)), 3)

    words = tuple(replace(word, start=moved(word.start), end=moved(word.end)) for word in utterance.words)
    return replace(utterance, start=moved(utterance.start), end=moved(utterance.end), words=words)


def _portions(start: float, end: float, most_s: float | None) -> list[tuple[float, float]]:
    """Divide a stretch that is longer than a file may be."""
    if most_s is None or end - start <= most_s:
        return [(start, end)]
    count = int(np.ceil((end - start) / most_s))
    edges = np.linspace(start, end, count + 1).tolist()
    return list(itertools.pairwise(edges))


def _quiet(levels: Levels, begin: float, end: float) -> float:
    """Return the middle of the quietest half second between two moments; the latest, if several are alike."""
    first, last = max(0, round(begin / STEP_S)), min(len(levels), round(end / STEP_S))
    window = round(QUIET_FOR_S / STEP_S)
    stretch = levels[first:last]
    if len(stretch) <= window:
        return end
    sums = np.convolve(stretch, np.ones(window, np.float32), "valid")
    latest = len(sums) - 1 - int(sums[::-1].argmin())
    return float((first + latest + window / 2) * STEP_S)


__all__ = ["Levels", "Piece", "PlannedFile", "joined_tracks", "relabelled", "returned", "speech", "whole"]
