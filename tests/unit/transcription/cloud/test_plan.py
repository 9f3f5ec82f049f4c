"""Files for a vendor, and the way back to the recording's own seconds."""

import itertools

import numpy as np
import pytest

from sederunt.model.transcript import Utterance, Word
from sederunt.transcription.cloud import plan
from sederunt.transcription.cloud.plan import Levels, Piece, PlannedFile, joined_tracks, relabelled, returned, whole


def loud(duration_s: float, *spans: tuple[float, float]) -> Levels:
    levels = np.zeros(round(duration_s / plan.STEP_S), np.float32)
    for start, end in spans:
        levels[round(start / plan.STEP_S) : round(end / plan.STEP_S)] = 0.1
    return levels


def said(*words: tuple[str, float, float], speaker: int = 0) -> Utterance:
    parts = tuple(Word(word=text, start=start, end=end, confidence=0.9, speaker=speaker) for text, start, end in words)
    return Utterance(
        start=parts[0].start,
        end=parts[-1].end,
        speaker=speaker,
        confidence=0.9,
        transcript=" ".join(word.word for word in parts),
        words=parts,
    )


def test_what_fits_is_one_file_and_needs_no_levels() -> None:
    files = whole(100.0, None, 100.0, linked_voices=True)
    assert [(each.pieces[0].start, each.pieces[0].end) for each in files] == [(0.0, 100.0)]


@pytest.mark.parametrize("linked_voices", [True, False])
def test_what_is_too_long_is_cut_where_it_is_quiet(linked_voices: bool) -> None:
    levels = loud(10_000, (0, 3_950), (3_960, 7_000), (7_010, 10_000))
    files = whole(10_000.0, levels, 4_000.0, linked_voices=linked_voices)
    assert all(each.duration_s <= 4_000 for each in files)
    assert 3_950 < files[0].counts_to < 3_960
    for one, other in itertools.pairwise(files):
        assert other.counts_from == one.counts_to == one.pieces[0].end
        assert one.counts_to - other.pieces[0].start == pytest.approx(plan.OVERLAP_S if linked_voices else 0)
    assert files[-1].pieces[0].end == 10_000


def test_a_word_in_an_overlap_is_told_once() -> None:
    levels = loud(260, (0, 140), (150, 260))
    one, other = whole(260.0, levels, 200.0, linked_voices=True)
    cut = one.counts_to
    spoken = [said(("before", cut - 5, cut - 4)), said(("after", cut + 5, cut + 6))]
    begin = other.pieces[0].start
    again = [
        said(("before", cut - 5 - begin, cut - 4 - begin)),
        said(("after", cut + 5 - begin, cut + 6 - begin)),
    ]
    told = [*returned(one, spoken[:1])[0], *returned(other, again)[0]]
    assert [each.transcript for each in told] == ["before", "after"]
    assert told[1].start == pytest.approx(cut + 5)


def test_tracks_go_one_after_the_other_without_their_silence() -> None:
    levels = [loud(3_600, (10, 20), (1_000, 1_030)), loud(3_600, (21, 25)), loud(3_600)]
    (file,) = joined_tracks(levels, None)
    assert [piece.source for piece in file.pieces] == [0, 0, 1]
    assert file.duration_s == pytest.approx(10 + 30 + 4 + 3 * 2 * plan.PAD_S + 2 * plan.BETWEEN_S)
    second = file.pieces[1]
    heard = said(("hello", second.at + 1, second.at + 1.5))
    (found,) = returned(file, [heard])[0]
    assert found.start == pytest.approx(second.start + 1)


def test_an_utterance_over_two_tracks_is_two() -> None:
    file = PlannedFile(
        pieces=(Piece(source=0, start=5.0, end=15.0, at=0.0), Piece(source=1, start=100.0, end=110.0, at=11.0))
    )
    found = returned(file, [said(("mine", 9.0, 9.5), ("yours", 10.2, 12.0))])
    assert found[0][0].transcript == "mine"
    assert found[1][0].transcript == "yours"
    assert (found[1][0].start, found[1][0].end) == (100.0, 101.0)  # began in the silence between: at the track's start


def test_tracks_fill_as_many_files_as_a_limit_asks_for() -> None:
    levels = [loud(600, (0, 250)), loud(600, (0, 250)), loud(600, (0, 590))]
    files = joined_tracks(levels, 300.0)
    assert all(each.duration_s <= 300 for each in files)
    spoken = dict.fromkeys(range(3), 0.0)
    for file in files:
        for piece in file.pieces:
            spoken[piece.source] += piece.end - piece.start
    assert spoken[2] == pytest.approx(590 + plan.PAD_S)


def test_voices_of_a_later_file_keep_their_numbers_by_the_overlap() -> None:
    earlier = [said(("a", 100, 110), speaker=0), said(("b", 110, 120), speaker=1)]
    overlap = [said(("b", 110, 120), speaker=0), said(("a", 100, 110), speaker=1)]
    later = [said(("b", 121, 130), speaker=0), said(("a", 131, 140), speaker=1), said(("c", 141, 150), speaker=2)]
    assert [each.speaker for each in relabelled(earlier, later, overlap)] == [1, 0, 2]
    assert relabelled(earlier, later, [])[0].speaker == 2
