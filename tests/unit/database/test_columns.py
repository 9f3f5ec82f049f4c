"""Values on their way into columns and back."""

import json
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from sederunt.database.columns import document_text, microseconds, moment_of, storable

_ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
_MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=_ZONES)


@given(_MOMENTS)
def test_a_moment_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert moment_of(microseconds(moment)) == moment


@given(st.text(st.characters()) | st.just("lone \ud83d and \x00"))
def test_any_text_fits_into_a_document(text: str) -> None:
    stored = document_text({"text": text})
    assert stored.isascii()
    assert json.loads(stored) == {"text": text}


@given(st.text(st.characters()))
def test_text_from_a_page_loses_what_no_column_takes(text: str) -> None:
    assert "\x00" not in storable(text)
    storable(text).encode()  # would raise for a lone surrogate


def test_ordinary_text_stays_as_it_is() -> None:
    assert storable("Zoë 🎧 李") == "Zoë 🎧 李"
