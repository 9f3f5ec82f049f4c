"""Protocol buffers are read without a schema, and nothing else is taken for one."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sederunt.platforms.protobuf import parse

Make = Callable[..., Any]


def test_fields_are_found_by_number_and_path(proto: Make) -> None:
    message = parse(proto((1, 300), (2, "text"), (3, proto((4, "inner"))), (3, proto((4, "second")))))
    assert message is not None
    assert (message.number(1), message.text(2), message.number(9), message.text(9)) == (300, "text", None, "")
    assert [inner.text(4) for inner in message.messages(3)] == ["inner", "second"]


def test_a_repeated_scalar_gives_its_last_value(proto: Make) -> None:
    message = parse(proto((1, 1), (1, 2)))
    assert message is not None
    assert message.number(1) == 2


def test_bytes_that_end_early_are_no_message(proto: Make) -> None:
    assert parse(proto((2, "text"))[:-1]) is None


def test_group_tags_and_field_zero_are_no_message() -> None:
    assert parse(b"\x0b\x01") is None
    assert parse(b"\x00\x01") is None


@given(st.binary(max_size=400))
def test_any_bytes_are_a_message_or_none(data: bytes) -> None:
    message = parse(data)
    if message is not None:
        assert sum(1 for _ in message.walk()) >= 1
