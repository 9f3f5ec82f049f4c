"""Stretches of one person get one number, whoever was heard badly goes with the nearest."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sederunt.transcription.diarization import clustering
from sederunt.transcription.diarization.clustering import clustered, linked
from sederunt.transcription.diarization.voice_stretches import VoiceStretch, unit

rng = np.random.default_rng(5)
PEOPLE = [unit(rng.normal(size=192).astype(np.float32)) for _ in range(4)]


def said(person: int, at: float, *, heard_s: float = 2.0, thread: int = 0, off: float = 0.5) -> VoiceStretch:
    """Two seconds of a person, `off` as loud as noise in the voice."""
    noise = unit(rng.normal(size=192).astype(np.float32))
    voice = unit(PEOPLE[person] + np.float32(off) * noise) if heard_s else None
    return VoiceStretch(start=at, end=at + 2, threads=(thread,), voice=voice, heard_s=heard_s)


def test_people_who_come_back_keep_their_number() -> None:
    order = [0, 1, 2, 0, 3, 1, 0, 2]
    labels = [label for (label,) in clustered([said(who, 3.0 * n, thread=n) for n, who in enumerate(order)])]
    assert len(set(labels)) == 4
    assert all((labels[a] == labels[b]) == (order[a] == order[b]) for a in range(8) for b in range(8))


def test_by_telephone_voices_have_to_be_more_alike() -> None:
    axes = np.eye(192, dtype=np.float32)
    voices = [unit(axes[0] * np.float32(0.96) + axes[1 + who]) for who in range(2)]  # a cosine of 0.48
    near = [replace(said(0, 3.0 * n, thread=n), voice=voice) for n, voice in enumerate(voices)]
    assert clustered(near) == [(0,), (0,)]
    assert clustered([replace(each, narrow=True) for each in near]) == [(0,), (1,)]


def test_what_was_hardly_heard_goes_to_the_voice_it_is_like() -> None:
    found = clustered([said(0, 0), said(1, 3, thread=1), said(0, 6, heard_s=0.7, thread=2, off=1.5)])
    assert found[2] == found[0] != found[1]


def test_a_stranger_who_says_little_is_somebody_new() -> None:
    found = clustered([said(0, 0), said(1, 3, thread=1), said(2, 6, heard_s=1.0, thread=2)])
    assert len({*found}) == 3


def test_somebody_who_says_nothing_but_short_sentences_is_one_more_voice() -> None:
    order = [0, 1, 2, 0, 2, 1, 2]
    found = clustered([said(who, 3.0 * n, heard_s=0.5 if who == 2 else 2, thread=n) for n, who in enumerate(order)])
    assert len({*found}) == 3
    assert found[2] == found[4] == found[6]


def test_short_sound_that_is_a_little_off_is_nobody_new() -> None:
    at_an_angle = unit(PEOPLE[0] * np.float32(0.33) + PEOPLE[3] * np.float32(0.94))
    short = replace(said(0, 6, heard_s=1.0, thread=2), voice=at_an_angle)
    found = clustered([said(0, 0), said(1, 3, thread=1), short])
    assert found[2] == found[0]


def test_what_was_not_heard_at_all_goes_with_its_thread() -> None:
    found = clustered([said(0, 0, thread=4), said(1, 3, thread=5), said(0, 6, heard_s=0, thread=4)])
    assert found[2] == found[0]


def test_two_at_once_are_whoever_spoke_before_and_whoever_speaks_after() -> None:
    both = VoiceStretch(start=2, end=3, threads=(0, 1))
    labels = clustered([said(0, 0), both, said(1, 3, thread=1)])
    assert set(labels[1]) == {*labels[0], *labels[2]}


def test_nobody_and_nothing_heard_are_no_trouble() -> None:
    assert clustered([]) == []
    assert clustered([said(0, 0, heard_s=0)]) == [(0,)]


def test_very_many_stretches_are_linked_in_parts() -> None:
    count = clustering.MOST_LINKED + 200
    order = [n % 3 for n in range(count)]
    labels = clustered([said(who, 3.0 * n, thread=n) for n, who in enumerate(order)])
    assert len(set(labels)) == 3
    assert len({(who, label) for who, label in zip(order, labels, strict=True)}) == 3


def averages(table: NDArray[Any], groups: list[list[int]]) -> list[float]:
    return [float(table[np.ix_(a, b)].mean()) for n, a in enumerate(groups) for b in groups[n + 1 :]]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.floats(-0.5, 0.9))
def test_linkage_stops_where_no_two_groups_are_alike_enough(count: int, seed: int, alike: float) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    groups = linked(vectors @ vectors.T, alike)
    assert sorted(n for group in groups for n in group) == list(range(count))
    assert all(average < alike + 1e-5 for average in averages(vectors @ vectors.T, groups))
