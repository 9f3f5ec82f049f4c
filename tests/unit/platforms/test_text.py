"""Text is cut the way people read it."""

from hypothesis import given
from hypothesis import strategies as st

from sederunt.platforms.text import cut, graphemes, length, parts

FAMILY = "👨‍👩‍👧‍👦"


def test_a_character_of_several_code_points_stays_whole() -> None:
    assert list(graphemes(f"e\u0301{FAMILY}🇩🇪🇫🇷👍🏽1\ufe0f\u20e3x")) == [
        "e\u0301",
        FAMILY,
        "🇩🇪",
        "🇫🇷",
        "👍🏽",
        "1\ufe0f\u20e3",
        "x",
    ]


def test_a_name_within_the_limit_is_left_alone_but_for_its_white_space() -> None:
    assert cut("  Ada\u00a0 Lovelace\n", 60) == "Ada Lovelace"


def test_a_name_is_cut_to_the_limit() -> None:
    assert cut("x" * 80, 60) == "x" * 60


def test_a_name_is_never_cut_inside_a_character() -> None:
    assert cut("abc" + FAMILY, 8) == "abc"
    assert length(cut(FAMILY * 9, 60)) <= 60


def test_a_short_message_is_one_part() -> None:
    assert parts("Hello, everyone.", 500) == ["Hello, everyone."]
    assert parts("   ", 500) == []


def test_a_long_message_is_split_at_white_space() -> None:
    assert parts("one two three four", 9) == ["one two", "three", "four"]


def test_a_word_longer_than_the_limit_is_cut() -> None:
    assert parts("abcdefghij", 4) == ["abcd", "efgh", "ij"]


@given(text=st.text(), limit=st.integers(min_value=30, max_value=80))
def test_parts_fit_and_lose_nothing_but_white_space(text: str, limit: int) -> None:
    made = parts(text, limit)
    assert "".join("".join(made).split()) == "".join(text.split())
    longest = max((length(g) for g in graphemes(text)), default=0)
    assert all(length(part) <= max(limit, longest) for part in made)
