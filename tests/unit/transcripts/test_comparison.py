"""Two transcripts side by side, and error rates."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model.transcript import Segment, Transcript, Utterance, Word
from sederunt.transcripts import comparison
from sederunt.transcripts.comparison import TooLong, edits, error_rate, keys_of, side_by_side, words_of


def said(text: str, start: float = 0.0, who: str | None = "Ada", *, timed: bool = True) -> Segment:
    """Two words a second."""
    words = tuple(
        Word(word=word, start=start + n * 0.5, end=start + n * 0.5 + 0.4, confidence=1)
        for n, word in enumerate(text.split())
    )
    end = words[-1].end
    spoken = Utterance(start=start, end=end, speaker=0, confidence=1, transcript=text, words=words if timed else ())
    return Segment(
        start=start, end=end, speaker=0, confidence=1, transcript=text, utterances=(spoken,), speaker_name=who
    )


def transcript(*segments: Segment) -> Transcript:
    return Transcript(segments=segments)


def shown(one: Transcript, other: Transcript) -> list[tuple[str, str]]:
    """Each row with what differs in brackets."""
    return [
        tuple(" ".join(p.text if p.same else f"[{p.text}]" for p in side) for side in (row.first, row.second))  # type: ignore[misc]
        for row in side_by_side(words_of(one), words_of(other))
    ]


def test_case_and_punctuation_do_not_differ_and_words_do() -> None:
    one = transcript(said("The road-map, for Friday."))
    other = transcript(said("the road map for Friday evening"))
    assert shown(one, other) == [("The road-map, for Friday.", "the road map for Friday [evening]")]


def test_a_row_ends_where_both_pause() -> None:
    one = transcript(said("one two three"), said("four five", 9.0))
    other = transcript(said("one too three"), said("four five six", 9.0))
    assert shown(one, other) == [("one [two] three", "one [too] three"), ("four five", "four five [six]")]
    bridged = transcript(said("one two three"), said("w " * 20 + "four five", 1.6))
    assert len(shown(one, bridged)) == 1


def test_what_only_one_of_them_has_stands_alone() -> None:
    assert shown(transcript(), transcript(said("hello there"))) == [("", "[hello there]")]
    assert shown(transcript(), transcript()) == []


def test_speakers_part_a_passage() -> None:
    one = transcript(said("yes"), said("no", 0.6, "Bo"))
    [row] = side_by_side(words_of(one), words_of(one))
    assert [(passage.text, passage.speaker) for passage in row.first] == [("yes", "Ada"), ("no", "Bo")]


def test_a_segment_without_times_of_words_has_them_spread_over_it() -> None:
    words = words_of(transcript(said("one two", 4.0, timed=False)))
    assert [(word.key, word.start) for word in words] == [("one", 4.0), ("two", pytest.approx(4.45))]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert shown(transcript(said("今日は晴れ")), transcript(said("今日も晴れ"))) == [
        ("今日 [は] 晴れ", "今日 [も] 晴れ")
    ]


def plain_edits(one: Sequence[str], other: Sequence[str]) -> int:
    before = list(range(len(other) + 1))
    for row, a in enumerate(one, 1):
        now = [row]
        for column, b in enumerate(other, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (a != b)))
        before = now
    return before[-1]


_WORDS = st.lists(st.sampled_from("abcd"), max_size=24)


@given(_WORDS, _WORDS, st.integers(1, 6))
def test_edits_are_the_fewest(one: list[str], other: list[str], band: int) -> None:
    kept, comparison._BAND = comparison._BAND, band
    try:
        assert edits(one, other) == plain_edits(one, other)
    finally:
        comparison._BAND = kept


def test_a_long_meeting_is_counted_within_its_band() -> None:
    words = random.Random(7).choices([str(n) for n in range(500)], k=6_000)
    heard = [word for place, word in enumerate(words) if place % 50]
    assert error_rate(words, heard) == 120 / 6_000


def test_what_would_take_minutes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_CELLS", 10_000)
    with pytest.raises(TooLong):
        edits(["a"] * 600, ["b"] * 600)


def test_a_reference_without_words_has_no_rate() -> None:
    assert error_rate(keys_of("…"), ["a"]) is None
