"""A page answers what it likes: nothing but shapes is believed, and no answer raises."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.browser.page_answers import batches_of, states_of

ODD: list[Any] = [None, 7, "x", [], {}, {"realm": 3}, {"realm": "a", "batches": "x"}, {"realm": "a", "batches": None}]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
FIELDS = dict.fromkeys(("backend", "tracks", "faults", "graphs", "batches"), JSON)


@pytest.mark.parametrize("answer", [*ODD, {"realm": "a", "batches": True}, {"realm": "a", "batches": 2**40}])
def test_an_odd_answer_to_a_flush_is_none(answer: Any) -> None:
    assert list(batches_of([answer, {"realm": "b", "batches": 3}])) == [("b", 3)]


def test_a_state_is_read_whole() -> None:
    track = {"track": 0, "kind": "audio", "backend": "encoded", "packets": 5, "tapped": 4, "plis": 0}
    told = {"realm": "a", "backend": "worklet", "tracks": [track], "faults": ["why"], "graphs": 1, "context": None}
    (state,) = states_of([told])
    assert state == {"realm": "a", "backend": "worklet", "tracks": [track], "faults": ["why"], "graphs": 1}


@given(st.fixed_dictionaries({"realm": st.just("a")}, optional=FIELDS) | JSON)
def test_no_state_raises_and_each_has_its_types(answer: Any) -> None:
    for state in states_of([answer]):
        assert state["backend"] in ("encoded", "worklet")
        assert all(isinstance(track["track"], int) for track in state["tracks"])
        assert all(isinstance(fault, str) for fault in state["faults"])
        assert isinstance(state["graphs"], int)
