"""Range headers: one range is honoured, nonsense is ignored, what lies behind the end is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.api.transport.ranges import ByteRange, Unsatisfiable, requested_span


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-", ByteRange(0, 100)),
        ("bytes=0-0", ByteRange(0, 1)),
        ("Bytes = 10 - 19", ByteRange(10, 20)),
        ("bytes=90-1000", ByteRange(90, 100)),
        ("bytes=-5", ByteRange(95, 100)),
        ("bytes=-1000", ByteRange(0, 100)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=0-1,5-6", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
        ("bytes=0-18446744073709551616", ByteRange(0, 100)),
        ("bytes=-" + "9" * 5000, ByteRange(0, 100)),
        ("bytes=" + "0" * 5000 + "7-" + "0" * 30 + "8", ByteRange(7, 9)),
        ("bytes=٣-٤", None),
    ],
)
def test_a_range_of_a_hundred_bytes(header: str | None, span: ByteRange | None) -> None:
    assert requested_span(header, 100) == span


@pytest.mark.parametrize(
    ("header", "size"),
    [
        ("bytes=100-", 100),
        ("bytes=" + "9" * 40 + "-", 100),
        ("bytes=-0", 100),
        ("bytes=0-", 0),
        ("bytes=-1", 0),
    ],
)
def test_what_lies_behind_the_end_is_refused(header: str, size: int) -> None:
    with pytest.raises(Unsatisfiable):
        requested_span(header, size)


@given(header=st.text(max_size=40) | st.from_regex(r"bytes=[0-9]{0,20}-[0-9]{0,20}"), size=st.integers(0, 10**12))
def test_any_header_gives_a_part_of_the_file_or_a_refusal(header: str, size: int) -> None:
    try:
        span = requested_span(header, size)
    except Unsatisfiable:
        return
    assert span is None or 0 <= span.start < span.end <= size
