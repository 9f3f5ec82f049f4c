"""JSON that somebody else wrote: it is a value, or a ValueError, whatever it is."""

import pytest

from sederunt import foreign_json


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "[" * 5_000 + "]" * 5_000, b"\xff\xfe", b"[\xff]", "9" * 5_000, "", "{'a': 1}"],
    ids=["brackets", "objects", "deep but whole", "half of UTF-16", "no UTF-8", "a long number", "nothing", "Python"],
)
def test_what_nobody_means_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        foreign_json.read(text)


def test_ordinary_json_is_read() -> None:
    assert foreign_json.read(b'{"a": [1, null, "\xc3\xa9"]}') == {"a": [1, None, "é"]}
