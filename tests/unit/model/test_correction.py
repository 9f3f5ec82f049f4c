"""Corrections over a transcript: in their order, and in one walk however many there are."""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.model import correction as corrections_module
from sederunt.model.correction import Correction, CorrectionKind, corrected, corrected_names
from sederunt.model.transcript import Segment, Transcript, Utterance, Word

NAMES = ("Ada", "Bo", "Cy")
WORDS = ("one", "two", "three", "ten")


def correction(kind: CorrectionKind, **fields: Any) -> Correction:
    given = {"segment": None, "word": None, "before": None, **fields}
    return Correction(id=UUID(int=0), kind=kind, made_by="tests", created_at=datetime(2026, 1, 1, tzinfo=UTC), **given)


def renames(*names: str) -> list[Correction]:
    return [correction(CorrectionKind.PARTICIPANT, before=before, after=after) for before, after in pairwise(names)]


def utterance(words: Sequence[str], text: str) -> Utterance:
    timed = tuple(Word(word=word, start=0, end=1, confidence=1) for word in words)
    return Utterance(start=0, end=1, speaker=0, confidence=1, transcript=text, words=timed)


def segment(name: str | None, *utterances: Utterance) -> Segment:
    text = " ".join(said.transcript for said in utterances)
    return Segment(
        start=0, end=1, speaker=0, confidence=1, transcript=text, speaker_name=name, utterances=tuple(utterances)
    )


@st.composite
def utterances(draw: st.DrawFn) -> Utterance:
    words = draw(st.lists(st.sampled_from(WORDS), max_size=4))
    text = draw(st.sampled_from([", ".join(words), "".join(f"({word})" for word in words), "something else"]))
    return utterance(words, text)


segments = st.builds(
    lambda name, said: segment(name, *said), st.sampled_from([*NAMES, None]), st.lists(utterances(), max_size=3)
)
names, words, places = st.sampled_from(NAMES), st.sampled_from(WORDS), st.integers(0, 4)
made = st.one_of(
    st.builds(lambda b, a: correction(CorrectionKind.PARTICIPANT, before=b, after=a), names, names),
    st.builds(
        lambda s, b, a: correction(CorrectionKind.SPEAKER, segment=s, before=b, after=a),
        places,
        names | st.none(),
        names,
    ),
    st.builds(
        lambda s, w, b, a: correction(CorrectionKind.WORD, segment=s, word=w, before=b, after=a),
        *(places, places, words, words),
    ),
)


@given(st.lists(segments, max_size=4), st.lists(made, max_size=12))
def test_all_at_once_is_the_same_as_one_after_another(said: list[Segment], told: list[Correction]) -> None:
    heard = Transcript(segments=tuple(said))
    assert corrected(heard, told) == reduce(lambda read, one: corrected(read, [one]), told, heard)


@given(st.lists(names, max_size=5), st.lists(made, max_size=12))
def test_names_of_people_read_as_those_of_segments(people: list[str], told: list[Correction]) -> None:
    told = [one for one in told if one.kind is CorrectionKind.PARTICIPANT]
    read = corrected(Transcript(segments=tuple(segment(name) for name in people)), told)
    assert corrected_names(people, told) == [one.speaker_name for one in read.segments]


@pytest.mark.parametrize(
    ("told", "most"),
    [
        (renames(*["Ada", "Bo"] * 200, "Eve"), 20),
        ([correction(CorrectionKind.WORD, segment=3, word=0, before="one", after="one")] * 200, 3),
        (
            [
                one
                for rename in renames(*["Ada", "Bo"] * 100)
                for one in (
                    rename,
                    correction(CorrectionKind.SPEAKER, segment=0, before=rename.after, after=rename.after),
                )
            ],
            20,
        ),
    ],
    ids=["a name", "a word", "names and a speaker"],
)
def test_many_corrections_touch_each_segment_once(
    told: list[Correction], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller may make as many as they like: each of them once walked all segments, on the api's loop."""
    heard = Transcript(segments=(segment("Ada", utterance(["one", "two"], "one, two")),) * 20)
    made_anew = 0

    def counting(record: Any, **changes: Any) -> Any:
        nonlocal made_anew
        made_anew += 1
        return dataclasses.replace(record, **changes)

    monkeypatch.setattr(corrections_module, "replace", counting)
    corrected(heard, told)
    assert made_anew <= most + 1  # the transcript itself


def test_a_word_that_was_put_right_twice_stays_in_its_place() -> None:
    heard = Transcript(segments=(segment("Ada", utterance(["a"], "x-a")),))
    told = [
        correction(CorrectionKind.WORD, segment=0, word=0, before=before, after=after)
        for before, after in (("a", "x"), ("x", "y"))
    ]
    assert corrected(heard, told).segments[0].transcript == "x-y"
