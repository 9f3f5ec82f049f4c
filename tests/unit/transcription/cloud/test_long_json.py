"""Vendors' long answers, read in little memory."""

import json
import tracemalloc
from typing import Any

import pytest

from sederunt.transcription.cloud.long_json import LONG, LongArray, loads
from sederunt.transcription.deepgram.parse import parse

WORDS = [
    {"word": f"w{n}", "punctuated_word": f"W{n}.", "start": n / 2, "end": n / 2 + 0.3, "confidence": 0.9, "speaker": 0}
    for n in range(5000)
]
ANSWER = {"results": {"channels": [{"alternatives": [{"transcript": "…", "words": WORDS}]}]}}


def plain(value: Any) -> Any:
    """Return the same with lists for long arrays."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | LongArray) else value


@pytest.mark.parametrize(
    "value",
    [
        ANSWER,
        [],
        {},
        None,
        "text",
        [1, [2, [], {"a": [None, True]}], "\u00e4\\"],
        [{"n": n} for n in range(LONG)],
        [{"n": n, "of": [{"m": m} for m in range(LONG + n)]} for n in range(LONG + 5)],
        list(range(LONG + 5)),
        [*({"n": n} for n in range(LONG + 5)), "no object"],
    ],
    ids=str,
)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_same_is_read_as_by_the_standard_library(value: Any, indent: int | None) -> None:
    assert plain(loads(json.dumps(value, indent=indent))) == value


def test_a_long_array_of_objects_is_read_item_by_item() -> None:
    items = [{"n": n} for n in range(LONG + 1)]
    found = loads(json.dumps(items))
    assert isinstance(found, LongArray)
    assert (len(found), found[0], found[-1]) == (LONG + 1, {"n": 0}, {"n": LONG})
    assert list(found) == list(found) == items
    assert list(found[1:]) == items[1:]
    assert isinstance(loads(json.dumps(items[:-1])), list)


@pytest.mark.parametrize("number", [0, LONG, LONG + 3])
@pytest.mark.parametrize("end", ["", "[", ",]", ", ", "}", "] x", ", {]", ", nul]", ', "half'])
def test_what_is_no_json_is_refused(number: int, end: str) -> None:
    text = "[" + ", ".join(['{"a": 1}'] * number) + end
    with pytest.raises(ValueError, match=r"Expecting|Extra data|Unterminated"):
        json.loads(text)
    with pytest.raises(ValueError, match=r"Expecting|Extra data|Unterminated"):
        loads(text)


def test_what_is_nested_beyond_all_use_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * 100_000)


def test_many_words_take_little_more_memory_than_their_text() -> None:
    text = json.dumps(ANSWER)
    tracemalloc.start()
    try:
        found = loads(text)
        held, _ = tracemalloc.get_traced_memory()
        utterances = parse(found).utterances
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(len(each.words) for each in utterances) == len(WORDS)
    assert held < len(text)  # as dictionaries: 4.1 times that
    assert peak < 6 * len(text)  # of which the words take most; 8.2 with dictionaries
