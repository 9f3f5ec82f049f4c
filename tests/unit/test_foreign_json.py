"""JSON that somebody else wrote: it is a value, or a ValueError, whatever it is."""

from collections.abc import Callable

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


@pytest.mark.parametrize(
    "written", ['{"n\\ud83d": ["hi \\uDC00", "\\ud83d\\ude00"]}', '{"n\ud83d": ["hi \udc00", "\U0001f600"]}']
)
@pytest.mark.parametrize("encode", [str, lambda text: text.encode("utf-8", "surrogatepass")], ids=["text", "bytes"])
def test_half_of_a_character_becomes_a_question_mark(written: str, encode: Callable[[str], str | bytes]) -> None:
    """As a page writes a name that it cut in the middle of an emoji: no socket, feed or database could carry it."""
    assert foreign_json.read(encode(written)) == {"n?": ["hi ?", "\U0001f600"]}
    assert "n\ud83d" in foreign_json.read(encode(written), keeps_halves=True)
